/** Entry of the thread that saves session files, so that messages do not wait for it. */
import { parentPort } from 'node:worker_threads'
import { saveSession, type SaveRequest } from './session-save.js'

const port = parentPort!
port.on('message', (request: SaveRequest) => {
  void saveSession(request).then((reply) => port.postMessage(reply))
})
