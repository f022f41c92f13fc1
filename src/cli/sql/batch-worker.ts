import { parentPort } from 'node:worker_threads'
import { writeBatch, type BatchOrder } from './batch.js'

parentPort!.on('message', (order: BatchOrder) => {
  // An unhandled rejection ends the thread; its owner gets the error.
  void writeBatch(order).then((result) => parentPort!.postMessage(result))
})
