import { createTapeFollower, createTapeView } from '../control/index.js'
import { decodeLine } from '../formats/index.js'
import { utf8Length, type MetaRecord, type TapeRecord } from '../model/index.js'
import { segmentPath, type TapeEnd } from '../tape/index.js'

/** Counts of a feed's recording. */
export interface FeedCounts {
  readonly messages: Record<'client_to_server' | 'server_to_client', number>
  readonly bytes: Record<'client_to_server' | 'server_to_client', number>
  gaps: number
  /** Messages that were forwarded unrecorded. */
  lost: number
  /** Lines of the tape that telemetry did not read. */
  unread: number
  /** Time from the passing of the newest message to its reading here. */
  lagMs: number
}

/** Records of a tape that is still being written. */
export interface Feed {
  readonly counts: FeedCounts
  /** Its first record; undefined if there is none before the end. */
  readonly meta: Promise<MetaRecord | undefined>
  /** All records, once. Ends when the tape has ended and is read, or on `stop`. */
  records(): AsyncGenerator<TapeRecord, void, undefined>
  /** The tape has grown. */
  grew(end: TapeEnd | undefined): void
  /** The tape is complete. */
  ended(): void
  /** Stops reading immediately. */
  stop(): void
}

/** Longer lines are skipped: decoding one takes several times its memory. */
const longestLine = 32 * 1024 * 1024

/** @param tape path of the first segment */
export function createFeed(tape: string): Feed {
  let end: TapeEnd | undefined
  let isEnded = false
  let isStopped = false
  let hasNews = false
  let wake: (() => void) | undefined
  const view = createTapeView({ segmentPath: (segment) => segmentPath(tape, segment), end: () => end })
  const follower = createTapeFollower(view, 0)
  const counts: FeedCounts = {
    messages: { client_to_server: 0, server_to_client: 0 },
    bytes: { client_to_server: 0, server_to_client: 0 },
    gaps: 0,
    lost: 0,
    unread: 0,
    lagMs: 0,
  }
  let toldMeta: (meta: MetaRecord | undefined) => void = () => undefined
  const meta = new Promise<MetaRecord | undefined>((resolve) => (toldMeta = resolve))
  let isFirst = true

  function news(): void {
    hasNews = true
    wake?.()
  }

  async function waitForNews(): Promise<void> {
    if (!hasNews && !isStopped) await new Promise<void>((resolve) => (wake = resolve))
    wake = undefined
    hasNews = false
    view.grew()
  }

  async function* lines(): AsyncGenerator<Buffer, void, undefined> {
    while (!isStopped) {
      // If the end came before this read, the read is complete.
      const isLast = isEnded
      if (isLast) view.grew()
      const followed = await follower.next().catch(() => undefined)
      if (followed?.kind === 'gap') counts.unread += followed.lines
      else if (followed?.kind === 'deleted') counts.unread += 1
      else if (followed) {
        try {
          yield* followed.lines
        } finally {
          followed.release()
        }
      }
      if (followed && !(followed.kind === 'lines' && followed.end)) continue
      if (isLast) break
      await waitForNews()
    }
  }

  function take(line: Buffer): TapeRecord | undefined {
    if (line.length > longestLine) {
      counts.unread += 1
      return undefined
    }
    const decoded = decodeLine(line.toString())
    if (!('record' in decoded)) return undefined
    const { record } = decoded
    if (record.type === 'message') {
      counts.messages[record.direction] += record.parts.length
      counts.bytes[record.direction] += utf8Length(record.raw)
      counts.lagMs = Math.max(0, Date.now() - Date.parse(record.t))
    } else if (record.type === 'gap') {
      counts.gaps += 1
      counts.lost += record.lost
    }
    // Such records of later segments concern only their file.
    if (record.type === 'meta' && !isFirst) return undefined
    if (record.type === 'end' && record.wiretape?.rotated) return undefined
    if (isFirst) toldMeta(record.type === 'meta' ? record : undefined)
    isFirst = false
    return record
  }

  return {
    counts,
    meta,
    async *records() {
      try {
        for await (const line of lines()) {
          if (isStopped) break
          const record = take(line)
          if (record) yield record
        }
      } finally {
        toldMeta(undefined)
        await view.close()
      }
    },
    grew(to) {
      end = to
      news()
    },
    ended() {
      isEnded = true
      news()
    },
    stop() {
      isStopped = true
      news()
    },
  }
}
