import type { ServerResponse } from 'node:http'

/** An event stream towards a client. */
export interface EventStream {
  /** Resolves when the next event may be written; at once when nobody reads any more. */
  event(name: string, data: string): Promise<void>
  readonly isOpen: boolean
  /** Ends the stream after what was written. */
  end(): void
  /** Breaks the connection off. */
  cut(): void
}

export type Headers = Readonly<Record<string, string>>

export function openEventStream(response: ServerResponse, headers: Headers = {}): EventStream {
  response.writeHead(200, {
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-cache, no-transform',
    'X-Accel-Buffering': 'no',
    ...headers,
  })
  response.flushHeaders()
  let draining: Promise<void> | undefined
  return {
    get isOpen() {
      return !response.destroyed && !response.writableEnded
    },
    event(name, data) {
      if (response.destroyed || response.writableEnded) return Promise.resolve()
      // A recorded message has one line; what other recorders wrote may have more.
      const lines = data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`)
      if (response.write(`event: ${name}\n${lines.join('')}\n`)) return Promise.resolve()
      draining ??= untilDrained(response).then(() => {
        draining = undefined
      })
      return draining
    },
    end: () => void response.end(),
    cut: () => void response.destroy(),
  }
}

function untilDrained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done)
      response.off('close', done)
      resolve()
    }
    response.on('drain', done)
    response.on('close', done)
  })
}
