import { parentPort } from 'node:worker_threads'
import { WiretapeError } from '../../model/index.js'
import { writeBatch, type BatchAnswer, type BatchOrder } from './batch.js'

parentPort!.on('message', (order: BatchOrder) => {
  const answer = (result: BatchAnswer): void => parentPort!.postMessage(result)
  writeBatch(order).then(answer, (error: unknown) => {
    // Another error is an unhandled rejection: it ends the thread, and its owner gets it.
    if (!(error instanceof WiretapeError)) throw error
    answer({ refused: error.code, message: error.message })
  })
})
