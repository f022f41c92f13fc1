import type { ServerEvent } from '../control-schema/index.js'
import { decodeLine, encodeRecord, mergeLive, type LiveMerge } from '../formats/index.js'
import { WiretapeError, type MetaRecord, type TapeRecord } from '../model/index.js'
import type { CaptureLink } from '../tui/index.js'
import { helloOf } from './saved-link.js'

/** One capture of several, with its next event. */
interface Lane {
  readonly link: CaptureLink
  readonly events: AsyncIterator<ServerEvent>
  /** Undefined while awaited. */
  next?: ServerEvent | undefined
  isLive: boolean
  isOver: boolean
}

/**
 * Several live captures as one, for a read-only screen: history by time, then events on arrival.
 *
 * @param tapes of the captures, in their order
 */
export async function mergeLinks(
  links: readonly CaptureLink[],
  metas: readonly MetaRecord[],
): Promise<CaptureLink> {
  const merge = mergeLive(metas)
  const lanes = links.map((link): Lane => {
    return { link, events: link.events[Symbol.asyncIterator](), isLive: false, isOver: false }
  })
  return {
    hello: helloOf(
      merge.meta,
      links.map(({ hello }) => hello.tape),
    ),
    events: mergedEvents(lanes, merge),
    async send(command) {
      if (command.type !== 'subscribe')
        throw new WiretapeError(
          'no-capture',
          'several captures are open, read-only: attach to one of them to change messages',
        )
      for (const { link } of lanes) await link.send(command)
      return {}
    },
    close() {
      for (const { link } of lanes) link.close()
    },
  }
}

async function* mergedEvents(
  lanes: readonly Lane[],
  merge: LiveMerge,
): AsyncGenerator<ServerEvent, void, undefined> {
  yield { type: 'record', line: encodeRecord(merge.meta) }
  const waiting = new Map<Lane, Promise<Lane>>()
  let isLive = false
  for (;;) {
    for (const lane of lanes)
      if (!lane.isOver && !lane.next && !waiting.has(lane)) waiting.set(lane, advance(lane))
    // During history, the earliest event of all comes first; later, events are taken on arrival.
    const mustWait = lanes.some((lane) => !lane.isOver && !lane.isLive && !lane.next)
    const ready = mustWait ? undefined : earliest(lanes, merge)
    if (ready === undefined) {
      if (waiting.size === 0) break
      waiting.delete(await Promise.race(waiting.values()))
      continue
    }
    const event = ready.next!
    ready.next = undefined
    if (event.type === 'live') ready.isLive = true
    else if (event.type === 'gap' || event.type === 'notice') yield event
    else if (event.type === 'record') {
      const record = recordOf(event.line)
      const placed = record && merge.place(lanes.indexOf(ready), record)
      if (placed) yield { type: 'record', line: encodeRecord(placed) }
    }
    if (!isLive && lanes.every((lane) => lane.isLive || lane.isOver)) {
      isLive = true
      yield { type: 'live' }
    }
  }
  yield { type: 'ended' }
}

async function advance(lane: Lane): Promise<Lane> {
  const { value, done } = await lane.events.next()
  if (done || value.type === 'ended') lane.isOver = true
  else lane.next = value
  return lane
}

/** Events that are no records have priority. */
function earliest(lanes: readonly Lane[], merge: LiveMerge): Lane | undefined {
  let first: Lane | undefined
  let firstAt = Infinity
  for (const [i, lane] of lanes.entries()) {
    if (!lane.next) continue
    const record = lane.next.type === 'record' ? recordOf(lane.next.line) : undefined
    const at = record ? merge.momentOf(i, record) : -Infinity
    if (!first || at < firstAt) [first, firstAt] = [lane, at]
  }
  return first
}

function recordOf(line: string): TapeRecord | undefined {
  const decoded = decodeLine(line)
  return 'record' in decoded ? decoded.record : undefined
}
