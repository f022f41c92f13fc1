import { existsSync } from 'node:fs'
import {
  createAnsweredHere,
  encodeRecord,
  type AnsweredHere,
  type MessageLine,
  type MessagePlace,
} from '../formats/index.js'
import type { EndRecord, GapRecord, MessageIds, MetaRecord, TapeRecord } from '../model/index.js'
import { addTally, amountOf, emptyTally, nothing, sumOf, type Amount, type Tally } from './amount.js'
import { codeOf, realDisk, tapeRemoved, troubleOf, type Disk, type DiskTrouble } from './disk.js'
import { LineBuffer } from './line-buffer.js'
import type { JournalOptions, JournalReport, TapeEnd } from './journal-report.js'
import { Reserve } from './reserve.js'
import { SegmentFile } from './segment-file.js'
import { segmentPath } from './tape-path.js'

/** Interval between attempts after a failed write. */
const retryUs = 200_000
/** Lines are joined up to this many bytes per write. */
const bytesAtOnce = 1024 * 1024
/** A segment reserves room for the `end` line of a rotation. */
const endRoom = 256

/**
 * Appends records to a tape and never removes one. When a write fails, records are counted instead, and a
 * `gap` record reports their number as soon as there is room. Used by one thread, synchronously.
 */
export class Journal {
  readonly #options: JournalOptions
  readonly #disk: Disk
  readonly #meta: MetaRecord
  #basePath: string
  readonly #reserve: Reserve
  readonly #lines: LineBuffer
  /** The strict form has no lines for held messages; requests answered by wiretape are the exception. */
  readonly #answeredHere: AnsweredHere | undefined
  #file: SegmentFile
  #segment = 0
  /** Lines in the current file; its meta line is the first. */
  #linesInFile = 1
  #paths: string[]
  /** Contents of the current file, subtracted when the file is removed. */
  #inFile = emptyTally()
  /** Contents of the previous files. */
  #before = { messages: 0, gaps: 0, lost: 0 }
  /** Lost records not reported yet. Undefined unless a write failed. */
  #losses: Amount | undefined
  #nextTryUs = 0
  /** Time of the first line after the meta line. */
  #beganUs = 0
  #nextSegmentTryUs = 0
  #trouble: DiskTrouble | undefined
  #closed = false

  /**
   * @param file the first segment, with only its meta line (see `startTape`)
   * @param meta the record of that line
   */
  constructor(file: SegmentFile, meta: MetaRecord, options: JournalOptions) {
    this.#file = file
    this.#meta = meta
    this.#basePath = file.path
    this.#options = options
    this.#disk = options.disk ?? realDisk
    this.#reserve = new Reserve(file.path, this.#disk)
    this.#reserve.take()
    this.#lines = new LineBuffer(options.strict === true)
    this.#paths = [file.path]
    this.#answeredHere = options.strict ? createAnsweredHere() : undefined
  }

  /**
   * Continues a tape whose journal is gone, in a new segment. Throws errors of the file system.
   *
   * @param path of the first segment
   * @param before contents of the existing segments
   */
  static after(
    path: string,
    meta: MetaRecord,
    options: JournalOptions,
    before: Pick<JournalReport, 'messages' | 'gaps' | 'lost'> & { readonly segment: number },
  ): Journal {
    const disk = options.disk ?? realDisk
    const { messages, gaps, lost } = before
    for (let segment = before.segment + 1; ; segment += 1) {
      let file: SegmentFile
      try {
        file = SegmentFile.create(segmentPath(path, segment), disk)
      } catch (error) {
        // The previous journal created this segment without reporting it.
        if (codeOf(error) === 'EEXIST') continue
        throw error
      }
      const journal = new Journal(file, meta, options)
      journal.#basePath = path
      journal.#segment = segment
      journal.#before = { messages, gaps, lost }
      journal.#paths = Array.from({ length: segment + 1 }, (_, i) => segmentPath(path, i)).filter((one) =>
        existsSync(one),
      )
      const failed = file.append(journal.#lineOf(journal.#metaOf(segment)))
      if (failed) throw failed.cause
      return journal
    }
  }

  append(records: readonly TapeRecord[]): void {
    for (const record of records) this.add(record)
    this.flush()
  }

  /** As `append`, but the line may wait in memory until `flush`: for callers with more records to add. */
  add(record: TapeRecord): void {
    if (this.#closed) throw new Error('the journal is closed')
    const instead = this.#answeredHere?.see(record)
    if (!instead) this.#add(record)
    else for (const each of instead) this.#add(each)
  }

  /** As `add`, for a plain message (see `LineBuffer.addPlain`). Not for the strict form. */
  addPlain(line: MessageLine, ids: MessageIds, place?: MessagePlace): void {
    if (this.#closed) throw new Error('the journal is closed')
    if (this.#lines.count === 0) this.#prepare()
    this.#lines.addPlain(line, ids, place)
    this.#added()
  }

  #add(record: TapeRecord): void {
    if (this.#lines.count === 0) this.#prepare()
    this.#put(record)
    this.#added()
  }

  /** After each line: writes a full buffer. */
  #added(): void {
    if (this.#losses) return this.#count(this.#lines.take())
    const earlier = this.#lines.count - 1
    const full = this.#isFull(this.#lines.sizeBytes, earlier)
    if (!full && this.#lines.sizeBytes <= bytesAtOnce) return
    if (!this.#write(earlier)) this.#lose(this.#lines.take())
    else if (full) this.#rotate()
  }

  /** Afterwards, all added records are on the disk or counted as lost. */
  flush(): void {
    if (!this.#write()) this.#lose(this.#lines.take())
  }

  /** Closes a segment of sufficient age and continues in the next. */
  sealOld(): void {
    const { sealAfterMs, now } = this.#options
    if (sealAfterMs === undefined || this.#closed || this.#losses || this.#inFile.records === 0) return
    const { us } = now()
    if (us - this.#beganUs < sealAfterMs * 1000 || us < this.#nextSegmentTryUs) return
    this.flush()
    if (!this.#losses) this.#rotate()
  }

  /** Before the first line of a write: checks that the file still exists and, after a failure, for room. */
  #prepare(): void {
    if (this.#losses && this.#options.now().us < this.#nextTryUs) return
    if (this.#file.isRemoved()) this.#replaceRemoved()
    if (this.#losses) this.#recover()
  }

  /** Writes the end line. Afterwards nothing may be appended. */
  close(
    end: Omit<EndRecord, 'type' | 'wiretape'> & {
      wiretape: Omit<NonNullable<EndRecord['wiretape']>, 'messages'>
    },
  ): JournalReport {
    if (this.#closed) return this.report()
    this.#nextSegmentTryUs = 0
    if (this.#file.isRemoved()) this.#replaceRemoved()
    this.#reserve.release()
    // A tape with an end but without its gap would look complete: in that case, no end is written.
    if (!this.#losses || this.#writeGap(this.#losses)) {
      this.#losses = undefined
      const { messages, errors } = this.#inFile
      const wiretape = { messages, errors, ...end.wiretape }
      this.#writeEnd({ ...end, type: 'end', wiretape })
    }
    if (this.#file.isRemoved()) {
      this.#losses = sumOf(this.#losses ?? nothing, this.#inFile.amount)
      this.#inFile = emptyTally()
      this.#forget(this.#file.path)
    }
    this.#seal()
    this.#closed = true
    return this.report()
  }

  /** Why nothing is recorded at the moment; undefined while records reach the disk. */
  get stopped(): DiskTrouble | undefined {
    return this.#losses && this.#trouble
  }

  get end(): TapeEnd {
    const lines = this.#options.strict ? {} : { lines: this.#linesInFile }
    return { segment: this.#segment, sizeBytes: this.#file.sizeBytes, ...lines }
  }

  report(): JournalReport {
    return {
      paths: [...this.#paths],
      messages: this.#before.messages + this.#inFile.messages,
      gaps: this.#before.gaps + this.#inFile.gaps,
      lost: this.#before.lost + this.#inFile.lost + (this.#losses?.messages ?? 0),
      ...(this.#trouble !== undefined && { trouble: this.#trouble.reason }),
    }
  }

  #put(record: TapeRecord): void {
    try {
      this.#lines.add(record)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      // The line exceeds the longest string: a message of tens of bytes can need a longer description.
      this.#lines.add(this.#gapOf(amountOf(record), 'a message too large for one line of the tape'))
    }
  }

  #isFull(moreBytes: number, moreRecords: number): boolean {
    const { maxBytes } = this.#options
    if (maxBytes === undefined || this.#file.sizeBytes + moreBytes + endRoom <= maxBytes) return false
    if (this.#inFile.records + moreRecords === 0) return false
    return this.#options.now().us >= this.#nextSegmentTryUs
  }

  /** Writes the first `count` lines. False when the write failed; unwritten lines stay in the buffer. */
  #write(count = this.#lines.count): boolean {
    if (count === 0) return true
    if (this.#inFile.records === 0) this.#beganUs = this.#options.now().us
    const failed = this.#file.append(this.#lines.bytesOf(count))
    const kept = failed ? this.#lines.countIn(failed.keptBytes) : count
    addTally(this.#inFile, this.#lines.take(kept))
    this.#linesInFile += kept
    if (failed) this.#trouble = troubleOf(failed.cause)
    return !failed
  }

  /** The first loss is reported at once, in the room of the reserve; later ones when there is room again. */
  #lose(tally: Tally): void {
    this.#count(tally)
    this.#reserve.release()
    if (this.#writeGap(this.#losses!)) this.#losses = nothing
  }

  #count(tally: Tally): void {
    this.#losses = sumOf(this.#losses ?? nothing, tally.amount)
  }

  #gapOf(amount: Amount, why: string): GapRecord {
    return {
      type: 'gap',
      ...this.#options.now(),
      lost: amount.messages,
      ...(amount.stderr > 0 && { lostStderr: amount.stderr }),
      lostBytes: amount.bytes,
      why,
    }
  }

  #writeGap(losses: Amount): boolean {
    if (losses.messages + losses.stderr === 0) return true
    this.#lines.add(this.#gapOf(losses, this.#trouble?.reason ?? 'the disk rejected the data'))
    if (this.#write()) return true
    this.#lines.take()
    return false
  }

  /** Checks for room. Recording continues only when the reserve could be taken again. */
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

  /** The next segment is opened before this one is ended: on failure, this one continues to grow. */
  #rotate(): void {
    const next = this.#openNext()
    if (!next) return
    const { t, us } = this.#options.now()
    const { messages, errors } = this.#inFile
    const wiretape = { messages, errors, rotated: true } as const
    this.#writeEnd({ type: 'end', t, exitCode: 0, durationMs: Math.round(us / 1000), wiretape })
    this.#seal()
    this.#before.messages += this.#inFile.messages
    this.#before.gaps += this.#inFile.gaps
    this.#before.lost += this.#inFile.lost
    this.#use(next)
    this.#reserve.take()
    const { maxFiles } = this.#options
    while (maxFiles !== undefined && this.#paths.length > Math.max(1, maxFiles)) {
      this.#unlink(this.#paths[0]!)
      this.#paths.shift()
    }
  }

  /** The tape was deleted while recording. It stays deleted; a gap in a new segment reports this. */
  #replaceRemoved(): void {
    if (this.#options.now().us < this.#nextSegmentTryUs) return
    const next = this.#openNext()
    this.#trouble = tapeRemoved
    if (!next) return
    const gone = this.#inFile.amount
    this.#forget(this.#file.path)
    this.#closeFile()
    this.#use(next)
    const missing = sumOf(this.#losses ?? nothing, gone)
    if (!this.#writeGap(missing)) this.#losses = missing
    else if (this.#losses) this.#losses = nothing
  }

  /** A new file with its meta line; undefined on failure, and then not attempted again for a while. */
  #openNext(): SegmentFile | undefined {
    const segment = this.#segment + 1
    let file: SegmentFile | undefined
    try {
      file = SegmentFile.create(segmentPath(this.#basePath, segment), this.#disk)
      const failed = file.append(this.#lineOf(this.#metaOf(segment)))
      if (failed) throw failed.cause
      return file
    } catch (cause) {
      this.#trouble = troubleOf(cause)
      this.#nextSegmentTryUs = this.#options.now().us + retryUs
      if (file) {
        this.#closeFile(file)
        this.#unlink(file.path)
      }
      return undefined
    }
  }

  #metaOf(segment: number): MetaRecord {
    const { wiretape } = this.#meta
    return wiretape ? { ...this.#meta, wiretape: { ...wiretape, segment } } : this.#meta
  }

  #use(file: SegmentFile): void {
    this.#file = file
    this.#segment += 1
    this.#paths.push(file.path)
    this.#inFile = emptyTally()
    this.#linesInFile = 1
  }

  #lineOf(record: MetaRecord | EndRecord): Uint8Array {
    return Buffer.from(encodeRecord(record, { strict: this.#options.strict === true }))
  }

  #writeEnd(end: EndRecord): void {
    const line = this.#lineOf(end)
    if (!this.#file.append(line)) return
    this.#reserve.release()
    const failed = this.#file.append(line)
    if (failed) this.#trouble = troubleOf(failed.cause, 'the end could not be written: ')
  }

  #seal(): void {
    try {
      this.#file.sync()
    } catch (cause) {
      this.#trouble = troubleOf(cause)
    }
    this.#closeFile()
  }

  #closeFile(file = this.#file): void {
    try {
      file.close()
    } catch (cause) {
      this.#trouble = troubleOf(cause)
    }
  }

  #forget(path: string): void {
    this.#paths = this.#paths.filter((other) => other !== path)
  }

  #unlink(path: string): void {
    try {
      this.#disk.unlinkSync(path)
    } catch {
      // Another program removed it, or it cannot be removed: recording continues in both cases.
    }
  }
}
