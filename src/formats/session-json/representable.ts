import type { Envelope } from '../../model/index.js'
import { kindAt, memberOf, readEnvelope, seekMembers, type Found, type Sought } from '../../wire/index.js'
import { hasLoneSurrogate, isDemanding } from './demanding.js'

const sought: Sought = new Map<string, Sought | null>([
  ['params', null],
  ['result', null],
  [
    'error',
    new Map([
      ['code', null],
      ['message', null],
    ]),
  ],
])

/**
 * Whether a message can be the payload of a session file: one JSON-RPC 2.0 request, notification, result or
 * error as the format's own reader accepts it, which refuses a whole file for one that is not. Ids are
 * strings or integers, `params` and `result` objects, an error has an integer code and a message.
 *
 * @param envelope what `readEnvelope` says of the text
 */
export function isRepresentable(text: string, envelope: Envelope = readEnvelope(text, 0)): boolean {
  const { kind, id } = envelope
  if (kind === 'invalid') return false
  if (kind === 'notification' ? id !== undefined : id === undefined) return false
  if (id !== undefined && !isId(id)) return false
  const members = seekMembers(text, 0, sought)
  const shapeOf = (name: string): string | undefined => {
    const member = memberOf(members, name)
    return member && kindAt(text, member.start)
  }
  const params = shapeOf('params')
  if (params !== undefined && params !== 'object' && params !== 'null') return false
  if (kind === 'result' && shapeOf('result') !== 'object') return false
  if (kind === 'error' && !isError(text, memberOf(members, 'error')?.members ?? [])) return false
  return !isDemanding(text) && !hasLoneSurrogate(text)
}

/** A string or an integer, as JSON text. */
export function isId(json: string): boolean {
  return json.startsWith('"') || (json.length < 4_000 && /^-?\d+$/.test(json))
}

function isError(text: string, members: readonly Found[]): boolean {
  const code = memberOf(members, 'code')
  const message = memberOf(members, 'message')
  return (
    code !== undefined &&
    message !== undefined &&
    /^-?\d+$/.test(text.slice(code.start, Math.min(code.end, code.start + 4_000))) &&
    kindAt(text, message.start) === 'string'
  )
}
