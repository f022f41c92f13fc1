import type { Input } from '../format.js'
import { readTranscriptMessage, type TranscriptMessage } from './message.js'
import type { Profile } from './profile.js'
import type { TranscriptSource } from './source.js'
import type { Survey } from './survey.js'

/** Characters of messages held for sorting. */
const heldAtOnce = 32 * 1024 * 1024

/**
 * The messages of a transcript in timestamp order, those without a timestamp first, then in file order. A
 * transcript that is too large to hold is read several times.
 */
export async function* orderedMessages(
  source: TranscriptSource,
  input: Input,
  { isSorted, count }: Survey,
  profile: Profile,
): AsyncGenerator<TranscriptMessage, void, undefined> {
  if (isSorted) {
    for await (const { message } of allOf(source, input, profile)) yield message
    return
  }
  const stamps = new Float64Array(count)
  const sizes = new Float64Array(count)
  let index = 0
  for await (const { message, size } of allOf(source, input, profile)) {
    stamps[index] = Number(message.stamp ?? 0)
    sizes[index] = size
    index += 1
  }
  const order = new Uint32Array(count).map((_, i) => i)
  order.sort((a, b) => stamps[a]! - stamps[b]! || a - b)
  for (let from = 0; from < count;) {
    let to = from
    for (let held = 0; to < count && (to === from || held < heldAtOnce); to += 1) held += sizes[order[to]!]!
    yield* window(source, input, order.subarray(from, to), profile)
    from = to
  }
}

/** The messages with these numbers, in this order. */
async function* window(
  source: TranscriptSource,
  input: Input,
  wanted: Uint32Array,
  profile: Profile,
): AsyncGenerator<TranscriptMessage, void, undefined> {
  const places = new Map([...wanted].map((index, place) => [index, place]))
  const found: TranscriptMessage[] = []
  let index = 0
  for await (const { message } of allOf(source, input, profile)) {
    const place = places.get(index)
    if (place !== undefined) found[place] = message
    index += 1
  }
  yield* found
}

async function* allOf(
  source: TranscriptSource,
  input: Input,
  profile: Profile,
): AsyncGenerator<{ message: TranscriptMessage; size: number }, void, undefined> {
  for await (const item of source.items(input.bytes(), { checked: true, note: () => undefined })) {
    for (const said of item.messages) {
      const message = readTranscriptMessage(said, item.number, profile)
      if (!('refusal' in message)) yield { message, size: said.text.length }
    }
  }
}
