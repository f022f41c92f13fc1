import {
  findJsonValue,
  holdsMessages,
  isFault,
  memberOf,
  membersOf,
  onOneLine,
  spliceText,
  readParts,
  type FrameText,
} from '../wire/index.js'
import { GateFault } from './fault.js'
import { otherShape } from './message-shape.js'

/**
 * Parses text typed by a person: JSON-RPC, returned on one line.
 *
 * @param marker text by which redaction replaces a secret: sending it is an error
 * @param like the replaced message: the text may contain the marker as often, must be a batch if it is one, and must
 * match its kind (request or response)
 * @throws GateFault
 */
export function readTyped(text: string, marker: string, like?: FrameText): FrameText {
  const span = findJsonValue(text)
  if (isFault(span))
    throw new GateFault('invalid', `not valid JSON: ${span.reason} ${placeIn(text, span.at)}`)
  if (!holdsMessages(text, span.start)) throw new GateFault('invalid', 'not JSON-RPC: not an object')
  const frame = readParts(onOneLine(text.slice(span.start, span.end)))
  for (const { envelope } of frame.parts) {
    if (envelope.kind === 'invalid') {
      throw new GateFault('invalid', `not JSON-RPC: ${envelope.problem ?? 'not a message'}`)
    }
  }
  const [count, before] = [frame, like ?? { text: '' }].map((f) => occurrences(f.text, marker))
  if (count! > before!) {
    throw new GateFault(
      'redacted',
      `the text has ${marker} instead of a secret`,
      'insert the real value, which a held message contains',
    )
  }
  if (like && (like.batch !== frame.batch || like.parts.length !== frame.parts.length)) {
    const was = like.batch ? `a batch of ${like.parts.length}` : 'one message'
    throw new GateFault('invalid', `the new text must also be ${was}`)
  }
  for (const [n, { envelope }] of (like?.parts ?? []).entries()) {
    if (envelope.kind === 'invalid') continue
    const other = otherShape(envelope.kind, frame.parts[n]!.envelope.kind)
    if (other !== undefined) {
      const which = frame.batch ? `message ${n + 1} of the batch: ` : ''
      throw new GateFault('invalid', which + other, 'answer or drop the message, or inject your own')
    }
  }
  return frame
}

/** The text of a response. @param outcome JSON text of a result or an error @throws GateFault */
export function answerText(
  requestId: string,
  outcome: { readonly result?: string | undefined; readonly error?: string | undefined },
  marker: string,
): string {
  const { result, error } = outcome
  if ((result === undefined) === (error === undefined)) {
    throw new GateFault('invalid', 'a response has either a result or an error')
  }
  const body = (result ?? error)!
  const span = findJsonValue(body)
  if (isFault(span))
    throw new GateFault('invalid', `not valid JSON: ${span.reason} ${placeIn(body, span.at)}`)
  const member = `"${result === undefined ? 'error' : 'result'}":${body.slice(span.start, span.end)}`
  return readTyped(`{"jsonrpc":"2.0","id":${requestId},${member}}`, marker).text
}

/** The request with another id. @param id JSON text */
export function withId(frame: FrameText, id: string): string {
  const old = frame.parts[0]?.envelope.id
  if (frame.batch || old === undefined || frame.parts[0]?.envelope.kind !== 'request') {
    throw new GateFault('invalid', 'only a single request can be sent again')
  }
  const at = memberOf(membersOf(frame.text, 0), 'id')!
  return spliceText(frame.text, [{ start: at.start, end: at.end, text: id }])
}

/** The request with another progress token. @param token JSON text; undefined for none */
export function withProgressToken(request: string, token: string | undefined): string {
  const own = token === undefined ? [] : [`"progressToken":${token}`]
  const params = memberOf(membersOf(request, 0), 'params')
  const meta = params && memberOf(membersOf(request, params.start), '_meta')
  if (meta) return withMembers(request, meta, 'progressToken', own)
  if (own.length === 0) return request
  const whole = `"_meta":{${own[0]}}`
  if (params) return withMembers(request, params, '_meta', [whole])
  return withMembers(request, { start: 0, end: request.length }, 'params', [`"params":{${whole}}`])
}

/** Replaces members with this name. An empty list removes them. Values that are not objects stay. */
function withMembers(
  text: string,
  { start, end }: { readonly start: number; readonly end: number },
  name: string,
  instead: readonly string[],
): string {
  if (text[start] !== '{') return text
  const members = membersOf(text, start)
  const others = members.filter((one) => one.name !== name)
  if (others.length === members.length && instead.length === 0) return text
  const texts = [...others.map((one) => text.slice(one.nameStart, one.end)), ...instead]
  return spliceText(text, [{ start, end, text: `{${texts.join(',')}}` }])
}

function occurrences(text: string, word: string): number {
  return word === '' ? 0 : text.split(word).length - 1
}

/** Position in words: `in line 3, column 7`, or `at column 7` in a text of one line. */
function placeIn(text: string, at: number): string {
  const before = text.slice(0, at).split('\n')
  const column = before.at(-1)!.length + 1
  return before.length > 1 ? `in line ${before.length}, column ${column}` : `at column ${column}`
}
