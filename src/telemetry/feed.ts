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

/** Longer lines are skipped: decoding one takes several times its memory. */
const longestLine = 32 * 1024 * 1024

/** Records of a tape that is still being written. */
export class Feed {
  #end: TapeEnd | undefined
  #isEnded = false
  #isStopped = false
  #hasNews = false
  #wake: (() => void) | undefined
  readonly #view: ReturnType<typeof createTapeView>
  readonly #follower: ReturnType<typeof createTapeFollower>
  readonly counts: FeedCounts = {
    messages: { client_to_server: 0, server_to_client: 0 },
    bytes: { client_to_server: 0, server_to_client: 0 },
    gaps: 0,
    lost: 0,
    unread: 0,
    lagMs: 0,
  }
  #toldMeta: (meta: MetaRecord | undefined) => void = () => undefined
  /** Its first record; undefined if there is none before the end. */
  readonly meta = new Promise<MetaRecord | undefined>((resolve) => (this.#toldMeta = resolve))
  #isFirst = true

  /** @param tape path of the first segment */
  constructor(tape: string) {
    this.#view = createTapeView({
      segmentPath: (segment) => segmentPath(tape, segment),
      end: () => this.#end,
    })
    this.#follower = createTapeFollower(this.#view, 0)
  }

  /** All records, once. Ends when the tape has ended and is read, or on `stop`. */
  async *records(): AsyncGenerator<TapeRecord, void, undefined> {
    try {
      for await (const line of this.#lines()) {
        if (this.#isStopped) break
        const record = this.#take(line)
        if (record) yield record
      }
    } finally {
      this.#toldMeta(undefined)
      await this.#view.close()
    }
  }

  /** The tape has grown. */
  grew(to: TapeEnd | undefined): void {
    this.#end = to
    this.#news()
  }

  /** The tape is complete. */
  ended(): void {
    this.#isEnded = true
    this.#news()
  }

  /** Stops reading immediately. */
  stop(): void {
    this.#isStopped = true
    this.#news()
  }

  #news(): void {
    this.#hasNews = true
    this.#wake?.()
  }

  async #waitForNews(): Promise<void> {
    if (!this.#hasNews && !this.#isStopped) await new Promise<void>((resolve) => (this.#wake = resolve))
    this.#wake = undefined
    this.#hasNews = false
    this.#view.grew()
  }

  async *#lines(): AsyncGenerator<Buffer, void, undefined> {
    while (!this.#isStopped) {
      // If the end came before this read, the read is complete.
      const isLast = this.#isEnded
      if (isLast) this.#view.grew()
      const followed = await this.#follower.next().catch(() => undefined)
      if (followed?.kind === 'gap') this.counts.unread += followed.lines
      else if (followed?.kind === 'deleted') this.counts.unread += 1
      else if (followed) {
        try {
          yield* followed.lines
        } finally {
          followed.release()
        }
      }
      if (followed && !(followed.kind === 'lines' && followed.end)) continue
      if (isLast) break
      await this.#waitForNews()
    }
  }

  #take(line: Buffer): TapeRecord | undefined {
    if (line.length > longestLine) {
      this.counts.unread += 1
      return undefined
    }
    const decoded = decodeLine(line.toString())
    if (!('record' in decoded)) return undefined
    const { record } = decoded
    if (record.type === 'message') {
      this.counts.messages[record.direction] += record.parts.length
      this.counts.bytes[record.direction] += utf8Length(record.raw)
      this.counts.lagMs = Math.max(0, Date.now() - Date.parse(record.t))
    } else if (record.type === 'gap') {
      this.counts.gaps += 1
      this.counts.lost += record.lost
    }
    // Such records of later segments concern only their file.
    if (record.type === 'meta' && !this.#isFirst) return undefined
    if (record.type === 'end' && record.wiretape?.rotated) return undefined
    if (this.#isFirst) this.#toldMeta(record.type === 'meta' ? record : undefined)
    this.#isFirst = false
    return record
  }
}
