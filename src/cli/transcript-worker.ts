import { parentPort, workerData } from 'node:worker_threads'
import { readTranscriptBatches } from '../formats/index.js'
import { openFile } from '../tape/index.js'
import { mostWaiting, type TranscriptOrder } from './transcript-thread.js'

async function run({ path, profile, waiting }: TranscriptOrder): Promise<void> {
  for await (const batch of await readTranscriptBatches(openFile(path).bytes(), profile)) {
    parentPort!.postMessage(batch)
    for (let count = Atomics.add(waiting, 0, 1) + 1; count >= mostWaiting; count = Atomics.load(waiting, 0))
      Atomics.wait(waiting, 0, count)
  }
  parentPort!.postMessage(undefined)
}

// An error ends the thread; its owner then reads the file itself.
void run(workerData as TranscriptOrder)
