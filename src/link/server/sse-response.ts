import type { ServerResponse } from 'node:http'
import { createDrain } from '../../transports/index.js'

/** Sends the head of an event stream that proxies must not change or buffer. */
export function beginEvents(response: ServerResponse, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(200, {
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-cache, no-transform',
    'X-Accel-Buffering': 'no',
    ...headers,
  })
}

/** One event. Our own messages have one line; those of other recorders may have more. */
export function eventText(event: string, data: string, id?: string): string {
  const lines = /[\r\n]/.test(data) ? data.split(/\r\n|\r|\n/) : [data]
  const said = lines.map((line) => `data: ${line}\n`).join('')
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\n${said}\n`
}

/** An event stream that ends with its connection. */
export interface EventResponse {
  /** Resolves when the next event may be written; at once when the client is gone. */
  event(name: string, data: string): Promise<void>
  readonly isOpen: boolean
  /** Ends the stream after everything written. */
  end(): void
  /** Breaks the connection. */
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
