import os from 'node:os'
import { Worker } from 'node:worker_threads'
import { PlainLines, type PlainLineArrays } from '../formats/index.js'
import { lentBytes } from '../tape/index.js'

/** Files from this size on are worth a thread. */
const threadedBytes = 128 << 20
const chunkBytes = 1 << 19
const slots = 4

/** What the thread reads. */
export interface LineOrder {
  readonly path: string
  /** Stop before this offset. */
  readonly to: number
}

/** Memory for a chunk and its lines, passed to the thread empty and back filled. */
export interface LineSlot {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly arrays: PlainLineArrays
  /** Bytes of the chunk; 0 at the end of the file. */
  readonly length: number
  /** Lines found. */
  readonly count: number
}

/** The buffers of a slot, which move to the other thread. */
export function buffersOf({ bytes, arrays }: LineSlot): ArrayBuffer[] {
  return [bytes.buffer, arrays.ints.buffer, arrays.numbers.buffer]
}

/** Reads a tape in chunks. A thread finds the plain lines of a large one, so that two processors share the work. */
export class LineChunks {
  /** Plain lines of the last chunk; undefined if no thread looked for them. */
  lines: PlainLines | undefined

  /**
   * @param to stop before this offset
   * @returns chunks, each valid until the next one is requested
   * @throws WiretapeError `unreadable`
   */
  async *read(path: string, to: number): AsyncGenerator<Uint8Array, void, undefined> {
    let at = 0
    if (to >= threadedBytes && os.availableParallelism() > 1)
      for await (const { bytes, arrays, length, count } of threadChunks({ path, to })) {
        at += length
        this.lines = new PlainLines(arrays, count)
        yield bytes.subarray(0, length)
      }
    this.lines = undefined
    // The rest, if the thread died or cannot read.
    yield* lentBytes(path, to, at)
  }
}

/** Ends early if the thread dies. */
async function* threadChunks(order: LineOrder): AsyncGenerator<LineSlot, void, undefined> {
  const filled: LineSlot[] = []
  let isOver = false
  let wake = (): void => undefined
  const over = (): void => {
    isOver = true
    wake()
  }
  const worker = new Worker(new URL('./line-worker.js', import.meta.url), { execArgv: [], workerData: order })
  worker.on('error', over)
  worker.on('exit', over)
  worker.on('message', (slot: LineSlot) => {
    filled.push(slot)
    wake()
  })
  try {
    for (let i = 0; i < slots; i += 1)
      post(worker, {
        bytes: new Uint8Array(chunkBytes),
        arrays: PlainLines.arraysFor(chunkBytes),
        length: 0,
        count: 0,
      })
    for (;;) {
      if (filled.length === 0 && !isOver) await new Promise<void>((resolve) => (wake = resolve))
      const slot = filled.shift()
      if (!slot || slot.length === 0) return
      yield slot
      post(worker, slot)
    }
  } finally {
    await worker.terminate()
  }
}

function post(worker: Worker, slot: LineSlot): void {
  worker.postMessage(slot, buffersOf(slot))
}
