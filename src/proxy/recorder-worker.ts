/** Entry of the recording thread. The thread ends when its tape is closed. */
import { parentPort, workerData } from 'node:worker_threads'
import { buffersOf } from './chunk-batch.js'
import { createRecorderCore, type RecorderInit, type RecorderMessage } from './recorder-core.js'
import type { RecorderReply } from './recorder.js'
import { createRunRedactor } from './run-redactor.js'

const port = parentPort!
const init = workerData as RecorderInit
const core = createRecorderCore(init, await createRunRedactor(init.redaction))
const reply = (message: RecorderReply, transfer: ArrayBuffer[] = []): void =>
  port.postMessage(message, transfer)

port.on('message', (message: RecorderMessage) => {
  const report = core.handle(message)
  if (report) {
    reply({ kind: 'closed', report })
    port.close()
  } else {
    const buffers = message.kind === 'chunks' ? buffersOf(message.batch) : []
    reply({ kind: 'done', buffers }, buffers)
  }
})

reply({ kind: 'ready' })
