import { diffJson, toJsonPath, toPointer, type Difference, type Tolerance } from '../compare/index.js'
import type { Envelope } from '../model/index.js'
import { redactionMarker } from '../redaction/index.js'
import { jsonIn, memberOf, membersOf, readEnvelope, type Span } from '../wire/index.js'
import type { Choice } from './picker.js'
import type { Play } from './play.js'
import { fitsRedacted } from './redacted-call.js'

/** JSON-RPC code of a miss: outside the ranges of JSON-RPC and MCP, so that no server's error looks like it. */
export const missCode = -31404

/** A call for which the recording has no response. */
export interface Miss {
  /** Such as `tools/call echo`. */
  readonly what: string
  /** One sentence for a person. */
  readonly message: string
  /** JSON text for programs. */
  readonly data: string
}

/** Number of recorded calls searched for the nearest one. */
const mostCompared = 300
/** Characters read of these calls. */
const mostRead = 8_000_000
const mostDifferences = 5
const longestValue = 60
const longestData = 2_000
const mostMethods = 20

/** Redacted values may be anything; members that do not affect the content of a call are ignored. */
const tolerance: Tolerance = {
  isIgnored: (_, pointer) => pointer === '/_meta',
  accepts: (_, before, __, after) => (isRedacted(before) && fitsRedacted(before, after) ? true : undefined),
  standIn: () => undefined,
}

/** A partly or fully redacted string, not an object that contains one. */
function isRedacted(json: string): boolean {
  return json.startsWith('"') && json.includes(redactionMarker)
}

interface Near {
  readonly row: number
  readonly differences: readonly Difference[]
  readonly more: number
}

/** Explains why a call got no recorded response, and how the nearest recorded call differs. */
export function explainMiss(
  play: Play,
  text: string,
  envelope: Envelope,
  choice: Exclude<Choice, { kind: 'found' }> | { readonly kind: 'unanswered'; readonly row: number },
): Miss {
  const { script, calls } = play
  const what = nameOf(envelope)
  if (choice.kind === 'unanswered') {
    const number = script.number(choice.row)
    return {
      what,
      message: `${what} got no response in the recording (#${number})`,
      data: JSON.stringify({ reason: 'unanswered', message: number }),
    }
  }
  if (choice.kind === 'spent') {
    const number = script.number(choice.row)
    const times = choice.times === 1 ? 'once' : `${choice.times} times`
    return {
      what,
      message: `${what} was recorded ${times}, and every response was used; --repeat-last repeats the last one (#${number})`,
      data: JSON.stringify({ reason: 'spent', message: number, times: choice.times }),
    }
  }
  const near = nearest(play, text, envelope)
  if (!near) {
    const known = calls.methods.filter((method) =>
      calls.examples(method).some((row) => script.kind(row) === 'call'),
    )
    const more = known.length > mostMethods ? ', …' : ''
    return {
      what,
      message: `the recording has no ${envelope.method ?? ''}; it has ${known.slice(0, mostMethods).join(', ')}${more}`,
      data: JSON.stringify({ reason: 'unknown' }),
    }
  }
  const number = script.number(near.row)
  const said = near.differences.map(describe)
  const hidden = near.more + Math.max(0, said.length - mostDifferences)
  const list = said.slice(0, mostDifferences).join('; ') + (hidden > 0 ? `; and ${hidden} more` : '')
  // The same except for redacted values: values that were equal in the recording differ now.
  const why = list === '' ? 'redacted values do not match' : list
  return {
    what,
    message: `${what} was not recorded with these params; the nearest call is #${number}: ${why}`,
    data: JSON.stringify({
      reason: 'unknown',
      nearest: {
        message: number,
        ...(list === '' && { redacted: true }),
        differences: near.differences.slice(0, mostDifferences).map((difference) => ({
          at: `/params${toPointer(difference.place)}`,
          ...(difference.before !== undefined && { recorded: difference.before.slice(0, longestData) }),
          ...(difference.after !== undefined && { asked: difference.after.slice(0, longestData) }),
        })),
      },
    }),
  }
}

function nearest(
  { script, calls }: Play,
  text: string,
  { method = '', subject }: Envelope,
): Near | undefined {
  const rows = calls.examples(method).filter((row) => script.kind(row) === 'call')
  const same: number[] = []
  const others: number[] = []
  let read = 0
  for (const row of rows) {
    if (same.length + others.length >= mostCompared || read > mostRead) break
    const recorded = script.text(row)
    read += recorded.length
    if (readEnvelope(recorded, 0).subject === subject) same.push(row)
    else others.push(row)
  }
  let best: Near | undefined
  for (const row of same.length > 0 ? same : others) {
    const recorded = script.text(row)
    const [before, after] = [paramsOf(recorded), paramsOf(text)]
    const { differences, more } = diffJson(before.text, before.span, after.text, after.span, { tolerance })
    const count = differences.length + more
    if (!best || count < best.differences.length + best.more) best = { row, differences, more }
  }
  return best
}

function paramsOf(text: string): { text: string; span: Span } {
  const found = jsonIn(text)
  const params = found && memberOf(membersOf(text, found.start), 'params')
  return params ? { text, span: params } : { text: '{}', span: { start: 0, end: 2 } }
}

function describe({ kind, place, before, after }: Difference): string {
  const at = `params${toJsonPath(place).slice(1)}`
  if (kind === 'added') return `${at} was absent`
  if (kind === 'removed') return `${at} was ${short(before)} and is missing`
  return `${at} was ${short(before)} and is ${short(after)}`
}

function short(json = ''): string {
  return json.length <= longestValue ? json : `${json.slice(0, longestValue - 1)}…`
}

export function nameOf({ method = '', subject }: Envelope): string {
  return subject === undefined ? method : `${method} ${short(subject)}`
}

/** The error that a client gets for a miss. @param id exact JSON text */
export function missAnswer(id: string, { message, data }: Miss): string {
  const said = JSON.stringify(`wiretape mock: ${message}`)
  return `{"jsonrpc":"2.0","id":${id},"error":{"code":${missCode},"message":${said},"data":${data}}}`
}
