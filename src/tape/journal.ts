import { encodeRecord } from '../formats/index.js'
import type { EndRecord, GapRecord, MetaRecord, TapeRecord } from '../model/index.js'
import { diskReason, realDisk, type Disk } from './disk.js'
import { Reserve } from './reserve.js'
import { SegmentFile } from './segment-file.js'
import { segmentPath } from './tape-path.js'

/** How a tape is written. */
export interface JournalOptions {
  /** Only what the published trace v1 has. @default false */
  readonly strict?: boolean
  /** A segment is closed before it grows beyond this. @default no limit */
  readonly maxBytes?: number
  /** Segments kept; older ones are deleted. @default all */
  readonly maxFiles?: number
  readonly disk?: Disk
  /** The two clocks, for the lines that the journal writes itself. */
  readonly now: () => { readonly t: string; readonly us: number }
}

/** What a journal has done. */
export interface JournalReport {
  /** Files that exist, oldest first. */
  readonly paths: readonly string[]
  /** Messages on the files, deleted segments included. */
  readonly messages: number
  readonly gaps: number
  /** Messages that the gaps speak of. */
  readonly lost: number
  /** Why messages were lost, or the end could not be written: the last reason. */
  readonly trouble?: string
}

/** How often a disk that refused is asked again. */
const retryUs = 200_000

/** Lines that did not make it to the disk. */
interface Losses {
  messages: number
  stderr: number
  bytes: number
}

/**
 * Appends records to a tape and never takes one back. When the disk refuses, records are counted instead,
 * and a `gap` record says how many as soon as there is room for it. Used by one thread, synchronously.
 */
export class Journal {
  readonly #options: JournalOptions
  readonly #disk: Disk
  readonly #meta: MetaRecord
  readonly #basePath: string
  #file: SegmentFile
  #reserve: Reserve
  #segment = 0
  #paths: string[]
  #total = { messages: 0, gaps: 0, lost: 0 }
  #segmentMessages = 0
  #segmentRecords = 0
  /** Set while the disk refuses. */
  #losses: Losses | undefined
  #nextTryUs = 0
  #trouble: string | undefined

  /**
   * @param file the first segment, holding just its meta line (see `startTape`)
   * @param meta that line's record
   */
  constructor(file: SegmentFile, meta: MetaRecord, options: JournalOptions) {
    this.#file = file
    this.#meta = meta
    this.#basePath = file.path
    this.#options = options
    this.#disk = options.disk ?? realDisk
    this.#reserve = new Reserve(file.path, this.#disk)
    this.#reserve.take()
    this.#paths = [file.path]
  }

  append(records: readonly TapeRecord[]): void {
    if (records.length === 0) return
    if (this.#file.isRemoved()) this.#replaceRemoved()
    if (this.#losses && !this.#recover()) {
      for (const record of records) count(this.#losses, record, this.#encode(record))
      return
    }
    this.#write(records)
  }

  /** Last words. Afterwards nothing may be appended. */
  close(
    end: Omit<EndRecord, 'type' | 'wiretape'> & {
      wiretape: Omit<NonNullable<EndRecord['wiretape']>, 'messages'>
    },
  ): JournalReport {
    if (this.#file.isRemoved()) this.#replaceRemoved()
    this.#reserve.release()
    if (this.#losses) this.#writeGap(this.#losses)
    this.#writeEnd({ ...end, type: 'end', wiretape: { messages: this.#segmentMessages, ...end.wiretape } })
    if (this.#file.isRemoved()) {
      this.#total.lost += this.#segmentMessages
      this.#total.messages -= this.#segmentMessages
    }
    this.#seal()
    return this.report()
  }

  report(): JournalReport {
    const lost = this.#total.lost + (this.#losses?.messages ?? 0)
    return {
      paths: this.#paths,
      messages: this.#total.messages,
      gaps: this.#total.gaps,
      lost,
      ...(this.#trouble !== undefined && { trouble: this.#trouble }),
    }
  }

  #encode(record: TapeRecord): string {
    return encodeRecord(record, { strict: this.#options.strict === true })
  }

  /** Joins lines into one write, up to where a segment is full. */
  #write(records: readonly TapeRecord[]): void {
    const { maxBytes } = this.#options
    let from = 0
    let lines: string[] = []
    let bytes = 0
    for (let i = 0; i < records.length; i += 1) {
      const line = this.#encode(records[i]!)
      if (maxBytes !== undefined) {
        const size = Buffer.byteLength(line)
        const full = this.#file.sizeBytes + bytes + size > maxBytes && this.#segmentRecords + lines.length > 0
        if (full) {
          if (!this.#flush(records, from, lines)) return this.#lose(records.slice(i))
          this.#rotate()
          from = i
          lines = []
          bytes = 0
        }
        bytes += size
      }
      lines.push(line)
    }
    this.#flush(records, from, lines)
  }

  /** Writes `lines`, which stand for `records` from `from` on. False when the disk refused; what it did not take is lost. */
  #flush(records: readonly TapeRecord[], from: number, lines: readonly string[]): boolean {
    const failed = this.#file.append(Buffer.from(lines.join('')))
    let kept = lines.length
    if (failed) {
      let bytes = 0
      kept = 0
      while (kept < lines.length && bytes + Buffer.byteLength(lines[kept]!) <= failed.keptBytes) {
        bytes += Buffer.byteLength(lines[kept]!)
        kept += 1
      }
    }
    for (let i = 0; i < kept; i += 1) this.#tally(records[from + i]!)
    if (!failed) return true
    this.#trouble = diskReason(failed.cause)
    this.#lose(records.slice(from + kept, from + lines.length))
    return false
  }

  #tally(record: TapeRecord): void {
    this.#segmentRecords += 1
    if (record.type === 'gap') {
      this.#total.gaps += 1
      this.#total.lost += record.lost
    } else if (record.type === 'message') {
      this.#total.messages += record.parts.length
      this.#segmentMessages += record.parts.length
    }
  }

  /** The first loss is told at once, into the room that the reserve held; later ones when there is room again. */
  #lose(records: readonly TapeRecord[]): void {
    const losses = (this.#losses ??= { messages: 0, stderr: 0, bytes: 0 })
    for (const record of records) count(losses, record, this.#encode(record))
    this.#reserve.release()
    if (this.#writeGap(losses)) this.#losses = { messages: 0, stderr: 0, bytes: 0 }
  }

  #writeGap(losses: Losses): boolean {
    if (losses.messages + losses.stderr === 0) return true
    const gap: GapRecord = {
      type: 'gap',
      ...this.#options.now(),
      lost: losses.messages,
      ...(losses.stderr > 0 && { lostStderr: losses.stderr }),
      lostBytes: losses.bytes,
      why: this.#trouble ?? 'the disk refused',
    }
    if (this.#file.append(Buffer.from(this.#encode(gap)))) return false
    this.#tally(gap)
    return true
  }

  /** Is there room again? Only with the reserve back in hand does recording go on. */
  #recover(): boolean {
    const { us } = this.#options.now()
    if (us < this.#nextTryUs) return false
    this.#nextTryUs = us + retryUs
    if (!this.#reserve.take()) return false
    if (!this.#writeGap(this.#losses!)) {
      this.#reserve.release()
      return false
    }
    this.#losses = undefined
    return true
  }

  /** The next segment is opened before this one is ended: if it cannot be, this one grows on. */
  #rotate(): void {
    const next = this.#openNext()
    if (!next) return
    const { t, us } = this.#options.now()
    const wiretape = { messages: this.#segmentMessages, rotated: true } as const
    this.#writeEnd({ type: 'end', t, exitCode: 0, durationMs: Math.round(us / 1000), wiretape })
    this.#seal()
    this.#use(next)
    const { maxFiles } = this.#options
    while (maxFiles !== undefined && this.#paths.length > maxFiles) {
      try {
        this.#disk.unlinkSync(this.#paths[0]!)
      } catch {
        // Somebody else removed it, or it cannot be removed: the recording goes on either way.
      }
      this.#paths.shift()
    }
  }

  /** The tape was deleted under us. That stays deleted; what follows goes into a new segment that says so. */
  #replaceRemoved(): void {
    this.#trouble = 'the tape file was removed while it was being written'
    const next = this.#openNext()
    if (!next) return
    const gone = this.#file
    const messages = this.#segmentMessages
    gone.close()
    this.#paths = this.#paths.filter((path) => path !== gone.path)
    this.#total.messages -= messages
    this.#use(next)
    this.#writeGap({ messages, stderr: 0, bytes: gone.sizeBytes })
  }

  /** A new file with its meta line, or undefined when there can be none. */
  #openNext(): SegmentFile | undefined {
    const { wiretape } = this.#meta
    const segment = this.#segment + 1
    const meta = wiretape ? { ...this.#meta, wiretape: { ...wiretape, segment } } : this.#meta
    let file: SegmentFile | undefined
    try {
      file = SegmentFile.create(segmentPath(this.#basePath, segment), this.#disk)
      const failed = file.append(Buffer.from(this.#encode(meta)))
      if (failed) throw failed.cause
      return file
    } catch (cause) {
      this.#trouble = diskReason(cause)
      if (file) {
        file.close()
        this.#disk.unlinkSync(file.path)
      }
      return undefined
    }
  }

  #use(file: SegmentFile): void {
    this.#file = file
    this.#segment += 1
    this.#paths.push(file.path)
    this.#segmentMessages = 0
    this.#segmentRecords = 0
  }

  #writeEnd(end: EndRecord): void {
    const failed = this.#file.append(Buffer.from(this.#encode(end)))
    if (failed) this.#trouble = `the end could not be written: ${diskReason(failed.cause)}`
  }

  #seal(): void {
    try {
      this.#file.sync()
    } catch (cause) {
      this.#trouble = diskReason(cause)
    }
    this.#file.close()
  }
}

function count(losses: Losses, record: TapeRecord, line: string): void {
  losses.bytes += line.length
  if (record.type === 'message') losses.messages += record.parts.length
  else if (record.type === 'noise') losses.messages += 1
  else if (record.type === 'stderr') losses.stderr += 1
  else if (record.type === 'gap') losses.messages += record.lost
}
