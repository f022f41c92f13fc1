import { openSync, readSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { PlainLines } from '../formats/index.js'
import { buffersOf, type LineOrder, type LineSlot } from './line-chunks.js'

// An error ends the thread; its owner then reads the rest of the file itself.
const { path, to } = workerData as LineOrder
const file = openSync(path, 'r')
let at = 0

parentPort!.on('message', ({ bytes, arrays }: LineSlot) => {
  const length = readSync(file, bytes, 0, Math.min(bytes.length, to - at), at)
  at += length
  const lines = new PlainLines(arrays)
  lines.find(bytes.subarray(0, length))
  const filled: LineSlot = { bytes, arrays, length, count: lines.count }
  parentPort!.postMessage(filled, buffersOf(filled))
})
