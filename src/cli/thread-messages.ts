import { Worker } from 'node:worker_threads'

/**
 * Starts a thread and returns its messages in order. They end when the thread ends or fails. The thread ends when its
 * messages are no longer requested.
 *
 * @param script of the thread
 * @param workerData data for it
 */
export async function* threadMessages<T>(
  script: URL,
  workerData: unknown,
): AsyncGenerator<T, void, undefined> {
  const messages: T[] = []
  let isOver = false
  let wake = (): void => undefined
  const over = (): void => {
    isOver = true
    wake()
  }
  const worker = new Worker(script, { execArgv: [], workerData })
  worker.on('error', over)
  worker.on('exit', over)
  worker.on('message', (message: T) => {
    messages.push(message)
    wake()
  })
  try {
    for (;;) {
      if (messages.length === 0 && !isOver) await new Promise<void>((resolve) => (wake = resolve))
      if (messages.length === 0) return
      yield messages.shift() as T
    }
  } finally {
    await worker.terminate()
  }
}
