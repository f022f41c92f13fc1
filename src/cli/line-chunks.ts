import os from 'node:os'
import { PlainLines, type PlainForm, type PlainFormat, type PlainLineArrays } from '../formats/index.js'
import { lentBytes } from '../tape/index.js'
import { threadMessages } from './thread-messages.js'

/** Files from this size on are worth a thread. */
export const threadedBytes = 128 << 20
const chunkBytes = 1 << 19
/** Room for messages in a longer form, and for whole entries of session files, as multiples of the chunk. */
const [growth, entryGrowth] = [2, 3]
const slotCount = 4

/** Whether a thread should read a file of this size. */
export function isWorthThread(sizeBytes: number): boolean {
  return sizeBytes >= threadedBytes && os.availableParallelism() > 1
}

/** The bytes that a thread reads. */
export interface LineOrder {
  readonly path: string
  /** Stop before this offset. */
  readonly to: number
  /** Filled in turn. */
  readonly slots: readonly LineSlot[]
  /** For each slot, 1 while the other thread uses it. The thread waits for 0 without an event loop. */
  readonly taken: Int32Array<SharedArrayBuffer>
  readonly format: PlainFormat
  readonly form: PlainForm
}

/** Memory for a chunk and its lines, which two threads share: buffers that move between threads would be garbage each time. */
export interface LineSlot {
  readonly bytes: Uint8Array<SharedArrayBuffer>
  /** Messages of the chunk in the form of the output. */
  readonly encoded: Uint8Array<SharedArrayBuffer>
  readonly arrays: PlainLineArrays
}

/** A slot that the thread filled. */
export interface FilledSlot {
  /** Number of the slot. */
  readonly slot: number
  /** Bytes of the chunk; 0 at the end of the file. */
  readonly length: number
  readonly encodedLength: number
  /** Lines found. */
  readonly count: number
}

/**
 * Reads a file in chunks. A thread finds the plain lines of a large one and brings their messages into the form of the
 * output, so that two processors share the work.
 */
export class LineChunks {
  readonly #format: PlainFormat
  readonly #form: PlainForm
  /** Plain lines of the last chunk; undefined if no thread looked for them. */
  lines: PlainLines | undefined

  constructor(format: PlainFormat, form: PlainForm = 'bytes') {
    this.#format = format
    this.#form = form
  }

  /**
   * @param to stop before this offset
   * @returns chunks, each valid until the next one is requested
   * @throws WiretapeError `unreadable`
   */
  async *read(path: string, to: number): AsyncGenerator<Uint8Array, void, undefined> {
    let at = 0
    if (isWorthThread(to)) {
      // The engine moves bytes within memory of one thread several times as fast.
      const own = { bytes: new Uint8Array(chunkBytes), encoded: new Uint8Array(this.#encodedBytes) }
      for await (const { bytes, encoded, arrays, length, encodedLength, count } of this.#threadChunks(
        path,
        to,
      )) {
        at += length
        own.bytes.set(bytes.subarray(0, length))
        own.encoded.set(encoded.subarray(0, encodedLength))
        this.lines = new PlainLines(arrays, count, own.encoded)
        yield own.bytes.subarray(0, length)
      }
    }
    this.lines = undefined
    // The rest, if the thread died or cannot read.
    yield* lentBytes(path, to, at)
  }

  get #encodedBytes(): number {
    if (this.#form === 'bytes') return 0
    return (typeof this.#form === 'object' ? entryGrowth : growth) * chunkBytes
  }

  /** Ends early if the thread dies. */
  async *#threadChunks(path: string, to: number): AsyncGenerator<LineSlot & FilledSlot, void, undefined> {
    const slots = Array.from({ length: slotCount }, (): LineSlot => ({
      bytes: new Uint8Array(new SharedArrayBuffer(chunkBytes)),
      encoded: new Uint8Array(new SharedArrayBuffer(this.#encodedBytes)),
      arrays: PlainLines.arraysFor(chunkBytes),
    }))
    const taken = new Int32Array(new SharedArrayBuffer(slotCount * Int32Array.BYTES_PER_ELEMENT))
    const workerData: LineOrder = { path, to, slots, taken, format: this.#format, form: this.#form }
    const script = new URL('./line-worker.js', import.meta.url)
    for await (const filled of threadMessages<FilledSlot>(script, workerData)) {
      if (filled.length === 0) return
      yield { ...slots[filled.slot]!, ...filled }
      Atomics.store(taken, filled.slot, 0)
      Atomics.notify(taken, filled.slot)
    }
  }
}
