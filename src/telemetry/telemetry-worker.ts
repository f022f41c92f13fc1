/** Entry of the thread that exports telemetry, so that messages do not wait for a receiver. */
import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { Exporter } from './exporter.js'
import type { WorkerInit, WorkerReply, WorkerRequest } from './messages.js'

/** A nice value: forwarding and recording have priority. */
const lowPriority = 10

// Linux gives the calling thread this priority; other systems would give it to the whole process.
if (process.platform === 'linux') {
  try {
    setPriority(0, lowPriority)
  } catch {
    // Not permitted here; all threads then have equal priority.
  }
}

const { settings, version } = workerData as WorkerInit
const exporter = new Exporter(settings, version)
const port = parentPort!
port.on('message', (request: WorkerRequest) => {
  const { id } = request
  if (request.kind === 'follow') exporter.follow(id, request.tape)
  else if (request.kind === 'grew') exporter.grew(id, request.end)
  else void exporter.finish(id).then((report) => port.postMessage({ id, report } satisfies WorkerReply))
})
