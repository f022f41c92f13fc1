import { mkdtemp, open, rm, type FileHandle } from 'node:fs/promises'
import os from 'node:os'
import { join } from 'node:path'
import { decodeLine, encodeRecord, isAboutWhole, isOfWhole, readTraceLines } from '../formats/index.js'
import { WiretapeError, type Report, type TapeRecord } from '../model/index.js'
import { diskReason } from './disk.js'
import { removedAtSignal } from './removed-at-signal.js'
import type { RecordingFile } from './read-file.js'

/** Bytes per read: adjacent records are likely to be requested next. */
const windowBytes = 1 << 18
/** Bytes of lines collected before a write. */
const batchBytes = 1 << 20

export interface OpenRecordsOptions {
  /** About this many bytes of the first records are kept in memory. @default 0: every record is read again */
  readonly keptBytes?: number
}

/** Approximate memory of a record besides its text. */
const recordBytes = 1_000

/** A recording with random access to its records. */
export class OpenRecords {
  readonly #files: readonly RecordingFile[]
  readonly #places = createPlaces()
  readonly #kept = new Map<number, TapeRecord>()
  #left: number
  readonly #handles: FileHandle[] = []
  #folder: string | undefined
  #guard: { close(): void } | undefined
  #window: { file: number; offset: number; bytes: Uint8Array } | undefined

  /**
   * Tapes are read in place; any other format is converted to a tape in a private temporary file.
   *
   * @param files segments of one recording, in order
   */
  constructor(files: readonly RecordingFile[], { keptBytes = 0 }: OpenRecordsOptions = {}) {
    this.#files = files
    this.#left = keptBytes
  }

  /** Every record in file order, with its locator. To be read once, to the end. */
  async *records(report: Report): AsyncIterable<{ readonly record: TapeRecord; readonly locator: number }> {
    try {
      for (const file of this.#files) {
        if (file.fault) report(file.fault)
        for await (const read of this.#readFile(file, report)) {
          const { record, locator } = read
          if (this.#left > 0) {
            this.#left -= recordBytes + (record.type === 'message' ? 2 * record.raw.length : 0)
            this.#kept.set(locator, record)
          }
          yield read
        }
      }
    } catch (cause) {
      if (cause instanceof WiretapeError || !(cause instanceof Error && 'syscall' in cause)) throw cause
      throw new WiretapeError('unreadable', `cannot keep a copy in ${os.tmpdir()}: ${diskReason(cause)}`, {
        hint: 'choose another folder with TMPDIR',
        cause,
      })
    }
  }

  /** @param locator of a record that `records` returned */
  async read(locator: number): Promise<TapeRecord> {
    const known = this.#kept.get(locator)
    if (known) return known
    const { file, offset, size } = this.#places.get(locator)
    // `records` has already found it to be JSON.
    const decoded = decodeLine(new TextDecoder().decode(await this.#bytesAt(file, offset, size)), {
      checked: true,
    })
    if ('fault' in decoded)
      throw new WiretapeError(
        'unreadable',
        `${this.#files[file]?.path ?? 'the recording'} changed while wiretape read it`,
      )
    return decoded.record
  }

  async close(): Promise<void> {
    this.#kept.clear()
    for (const handle of this.#handles.splice(0)) await handle.close()
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true })
    this.#guard?.close()
  }

  async *#readFile(file: RecordingFile, report: Report): ReturnType<OpenRecords['records']> {
    if (file.format.id === 'trace-v1') {
      this.#handles.push(await open(file.path))
      const { part } = file
      const tell: Report = (problem) => {
        if (!part || isAboutWhole(problem.code, part)) report(problem)
      }
      for await (const line of readTraceLines(file.bytes(file.sizeBytes), tell)) {
        if (part && !isOfWhole(line.record, part)) continue
        yield {
          record: line.record,
          locator: this.#places.add(this.#handles.length - 1, line.offset, line.sizeBytes),
        }
      }
    } else yield* this.#spool(file, report)
  }

  async *#spool(file: RecordingFile, report: Report): ReturnType<OpenRecords['records']> {
    if (this.#folder === undefined) {
      this.#folder = await mkdtemp(join(os.tmpdir(), 'wiretape-'))
      this.#guard = removedAtSignal(this.#folder)
    }
    const handle = await open(join(this.#folder, String(this.#handles.length)), 'wx+', 0o600)
    this.#handles.push(handle)
    let offset = 0
    let batch: Buffer[] = []
    let batched = 0
    async function write(): Promise<void> {
      await handle.writeFile(Buffer.concat(batch))
      batch = []
      batched = 0
    }
    for await (const record of file.format.read({ bytes: () => file.bytes(file.sizeBytes) }, report)) {
      const line = Buffer.from(encodeRecord(record))
      batch.push(line)
      batched += line.length
      yield { record, locator: this.#places.add(this.#handles.length - 1, offset, line.length - 1) }
      offset += line.length
      if (batched >= batchBytes) await write()
    }
    await write()
  }

  async #bytesAt(file: number, offset: number, size: number): Promise<Uint8Array> {
    const known = this.#window
    if (known?.file === file && offset >= known.offset && offset + size <= known.offset + known.bytes.length)
      return known.bytes.subarray(offset - known.offset, offset - known.offset + size)
    const bytes = new Uint8Array(Math.max(size, windowBytes))
    let length = 0
    while (length < bytes.length) {
      const { bytesRead } = await this.#handles[file]!.read(
        bytes,
        length,
        bytes.length - length,
        offset + length,
      )
      if (bytesRead === 0) break
      length += bytesRead
    }
    this.#window = { file, offset, bytes: bytes.subarray(0, length) }
    return bytes.subarray(0, Math.min(size, length))
  }
}

/** File, offset and size of every line, in 20 bytes each. */
function createPlaces(): {
  add(file: number, offset: number, size: number): number
  get(locator: number): { file: number; offset: number; size: number }
} {
  let offsets = new Float64Array(256)
  let sizes = new Float64Array(256)
  let files = new Uint32Array(256)
  let length = 0
  function grown<T extends { set(from: T): void }>(from: T, to: T): T {
    to.set(from)
    return to
  }
  return {
    add(file, offset, size) {
      if (length === offsets.length) {
        const room = length + (length >> 1)
        offsets = grown(offsets, new Float64Array(room))
        sizes = grown(sizes, new Float64Array(room))
        files = grown(files, new Uint32Array(room))
      }
      offsets[length] = offset
      sizes[length] = size
      files[length] = file
      length += 1
      return length - 1
    },
    get: (locator) => ({ file: files[locator]!, offset: offsets[locator]!, size: sizes[locator]! }),
  }
}
