import type { EventResponse } from '../../link/index.js'
import type { Sink } from '../sink.js'

/** The stream of a conversation that belongs to no request. Who sends while there is none waits for it. */
export interface StandaloneSink extends Sink {
  /** False when there is one already. */
  attach(stream: EventResponse): boolean
  /** Nothing more is sent; who waits goes on. */
  close(): void
}

export function createStandaloneSink(): StandaloneSink {
  let stream: EventResponse | undefined
  let closed = false
  const waiting: (() => void)[] = []

  function wake(): void {
    for (const goOn of waiting.splice(0)) goOn()
  }

  return {
    get isOpen() {
      return stream?.isOpen === true
    },
    attach(next) {
      if (stream?.isOpen) return false
      stream = next
      wake()
      return true
    },
    async send({ text, noise }) {
      if (noise) return
      while (!closed && !stream?.isOpen) await new Promise<void>((resolve) => waiting.push(resolve))
      if (!closed) await stream?.event('message', text)
    },
    cut: () => stream?.cut(),
    close() {
      closed = true
      stream?.end()
      wake()
    },
  }
}
