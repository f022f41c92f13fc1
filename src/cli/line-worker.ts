import { isUtf8 } from 'node:buffer'
import { openSync, readSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { PlainEncoder, PlainLines, plainReaders } from '../formats/index.js'
import { moduleOfBuild } from '../proxy/index.js'
import { createMessageMemory } from '../wire/index.js'
import type { FilledSlot, LineOrder } from './line-chunks.js'

// An error ends the thread; its owner then reads the rest of the file itself.
const { path, to, slots, taken, format, form } = workerData as LineOrder
const file = openSync(path, 'r')
const memory = createMessageMemory(moduleOfBuild())
// The engine moves bytes within memory of one thread several times as fast.
const [own, ownEncoded] = [slots[0]!.bytes, slots[0]!.encoded].map(
  ({ length }) => memory?.take(length) ?? new Uint8Array(length),
) as [Uint8Array, Uint8Array]
const LF = 0x0a
let at = 0
/** False for the first line, which may have a byte order mark. */
let isAtLineStart = false

/** @returns whether more may follow */
function fill(slot: number): boolean {
  const { bytes, encoded, arrays } = slots[slot]!
  const read = readSync(file, own, 0, Math.min(own.length, to - at), at)
  // A line that is cut would be read by the other thread, slowly.
  const lastEnd = own.subarray(0, read).lastIndexOf(LF) + 1
  const length = lastEnd > 0 ? lastEnd : read
  const chunk = own.subarray(0, length)
  const start = isAtLineStart ? 0 : chunk.indexOf(LF) + 1
  isAtLineStart = lastEnd > 0
  at += length
  // Characters of longer lines may be cut.
  memory?.call.useUtf8(isUtf8(chunk.subarray(start, lastEnd)))
  const lines = new PlainLines(arrays)
  const encoder = form === 'bytes' ? undefined : new PlainEncoder(chunk, form, ownEncoded)
  lines.find(chunk, plainReaders[format], encoder, start)
  const encodedLength = encoder?.size ?? 0
  bytes.set(chunk)
  encoded.set(ownEncoded.subarray(0, encodedLength))
  const filled: FilledSlot = { slot, length, encodedLength, count: lines.count }
  Atomics.store(taken, slot, 1)
  parentPort!.postMessage(filled)
  return length > 0
}

for (let slot = 0; fill(slot);) {
  slot = (slot + 1) % slots.length
  Atomics.wait(taken, slot, 1)
}
