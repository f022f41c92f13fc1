import { openSync, readSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { PlainLines } from '../formats/index.js'
import type { FilledSlot, LineOrder } from './line-chunks.js'

// An error ends the thread; its owner then reads the rest of the file itself.
const { path, to, slots } = workerData as LineOrder
const file = openSync(path, 'r')
let at = 0

parentPort!.on('message', (slot: number) => {
  const { bytes, arrays } = slots[slot]!
  const length = readSync(file, bytes, 0, Math.min(bytes.length, to - at), at)
  at += length
  const lines = new PlainLines(arrays)
  lines.find(bytes.subarray(0, length))
  const filled: FilledSlot = { slot, length, count: lines.count }
  parentPort!.postMessage(filled)
})
