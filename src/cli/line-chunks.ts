import os from 'node:os'
import { Worker } from 'node:worker_threads'
import { PlainLines, type PlainLineArrays } from '../formats/index.js'
import { lentBytes } from '../tape/index.js'

/** Files from this size on are worth a thread. */
export const threadedBytes = 128 << 20
const chunkBytes = 1 << 19
const slotCount = 4

/** The bytes that a thread reads. */
export interface LineOrder {
  readonly path: string
  /** Stop before this offset. */
  readonly to: number
  readonly slots: readonly LineSlot[]
}

/** Memory for a chunk and its lines, which two threads share: buffers that move between threads would be garbage each time. */
export interface LineSlot {
  readonly bytes: Uint8Array<SharedArrayBuffer>
  readonly arrays: PlainLineArrays
}

/** A slot that the thread filled. */
export interface FilledSlot {
  /** Number of the slot. */
  readonly slot: number
  /** Bytes of the chunk; 0 at the end of the file. */
  readonly length: number
  /** Lines found. */
  readonly count: number
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
      for await (const { bytes, arrays, length, count } of threadChunks(path, to)) {
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
async function* threadChunks(
  path: string,
  to: number,
): AsyncGenerator<LineSlot & FilledSlot, void, undefined> {
  const slots = Array.from({ length: slotCount }, (): LineSlot => ({
    bytes: new Uint8Array(new SharedArrayBuffer(chunkBytes)),
    arrays: PlainLines.arraysFor(chunkBytes),
  }))
  const workerData: LineOrder = { path, to, slots }
  const filled: FilledSlot[] = []
  let isOver = false
  let wake = (): void => undefined
  const over = (): void => {
    isOver = true
    wake()
  }
  const worker = new Worker(new URL('./line-worker.js', import.meta.url), { execArgv: [], workerData })
  worker.on('error', over)
  worker.on('exit', over)
  worker.on('message', (slot: FilledSlot) => {
    filled.push(slot)
    wake()
  })
  try {
    for (const slot of slots.keys()) worker.postMessage(slot)
    for (;;) {
      if (filled.length === 0 && !isOver) await new Promise<void>((resolve) => (wake = resolve))
      const next = filled.shift()
      if (!next || next.length === 0) return
      yield { ...slots[next.slot]!, ...next }
      worker.postMessage(next.slot)
    }
  } finally {
    await worker.terminate()
  }
}
