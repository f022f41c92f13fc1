import { WiretapeError } from '../model/index.js'
import { redactionMarker } from '../redaction/index.js'
import { jsonIn, jsonObjectIn, memberOf, membersOf, type Span } from '../wire/index.js'
import type { SetValue } from './live-values.js'
import type { Plan } from './plan.js'

/**
 * A `--set` value whose place was redacted in some message of the client applies to redacted places only: in other
 * messages the same place keeps its recorded value.
 *
 * @throws WiretapeError `usage` for a place that no message of the client has, and for message ids
 */
export async function narrowSets(plan: Plan, sets: readonly SetValue[]): Promise<readonly SetValue[]> {
  if (sets.length === 0) return sets
  const used = new Set<SetValue>()
  const narrow = new Set<SetValue>()
  const isRedacted = plan.session?.redaction !== 'none'
  for (const frame of plan.frames) {
    if (used.size === sets.length && (!isRedacted || narrow.size === sets.length)) break
    const record = await plan.read(frame.locator)
    for (const { part } of plan.frames.messagesOf(frame, record)) {
      const { start, end } = record.parts[part]!
      const text = record.raw.slice(start, end)
      const idStart = idOf(text)
      for (const set of sets) {
        const places = placesOf(set, text)
        if (places.length > 0) used.add(set)
        if (places.some(({ start }) => start === idStart)) throw noIds(set)
        if (places.some((place) => text.slice(place.start, place.end).includes(redactionMarker)))
          narrow.add(set)
      }
    }
  }
  const unused = sets.find((set) => !used.has(set))
  if (unused)
    throw new WiretapeError(
      'usage',
      `cannot set ${unused.name}: no client message has a value at this path`,
      {
        hint: 'a path starts at the message, such as $.params.arguments.token; wiretape inspect -v shows the messages',
      },
    )
  return sets.map((set) => (narrow.has(set) ? { ...set, onlyRedacted: true } : set))
}

/** Responses are matched by message ids. */
function noIds({ name }: SetValue): WiretapeError {
  return new WiretapeError('usage', `cannot set ${name}: the value would replace message ids`, {
    hint: 'use a path in params, such as $.params.arguments.id',
  })
}

function idOf(text: string): number | undefined {
  const whole = jsonObjectIn(text)
  if (!whole) return undefined
  return memberOf(membersOf(text, whole.start), 'id')?.start
}

function placesOf({ path }: SetValue, text: string): readonly Span[] {
  const whole = jsonIn(text)
  return whole ? path.find(text, whole) : []
}
