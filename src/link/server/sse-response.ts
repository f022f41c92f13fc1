import type { ServerResponse } from 'node:http'
import { createDrain } from '../../transports/index.js'

/** The head of an event stream, which no proxy may change or collect. */
export function beginEvents(response: ServerResponse, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(200, {
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-cache, no-transform',
    'X-Accel-Buffering': 'no',
    ...headers,
  })
}

/** One event. A message of ours has one line; what other recorders wrote may have more. */
export function eventText(event: string, data: string, id?: string): string {
  const lines = /[\r\n]/.test(data) ? data.split(/\r\n|\r|\n/) : [data]
  const said = lines.map((line) => `data: ${line}\n`).join('')
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\n${said}\n`
}

/** An event stream that ends with its connection. */
export interface EventResponse {
  /** Resolves when the next event may be written; at once when nobody reads any more. */
  event(name: string, data: string): Promise<void>
  readonly isOpen: boolean
  /** Ends the stream after what was written. */
  end(): void
  /** Breaks the connection off. */
  cut(): void
}

export function openEvents(
  response: ServerResponse,
  headers?: Readonly<Record<string, string>>,
): EventResponse {
  beginEvents(response, headers)
  response.flushHeaders()
  const drained = createDrain(response)
  return {
    get isOpen() {
      return !response.destroyed && !response.writableEnded
    },
    event(name, data) {
      if (response.destroyed || response.writableEnded) return Promise.resolve()
      return response.write(eventText(name, data)) ? Promise.resolve() : drained()
    },
    end: () => void response.end(),
    cut: () => void response.destroy(),
  }
}
