import type http from 'node:http'
import { reconnectDelayMs } from '../../wire/index.js'
import type { startCall } from './http-call.js'

export interface StandaloneStreamOptions {
  readonly url: URL
  readonly agent: http.Agent
  headers(): [name: string, value: string][]
  /** Text of a message. */
  onMessage(text: string): void
  readonly begin: typeof startCall
  /** Where an earlier stream broke. */
  readonly resume?: { readonly lastId: string; readonly retryMs?: number }
  /** Asked before it is opened again. */
  isWanted(): boolean
  /** The server has none, or it breaks all the time. */
  onGivenUp(): void
}

/** Failures in a row. */
const mostFailures = 5

/** A stream that a GET opens (2025-03-26 to 2025-11-25), for as long as it is wanted: it is taken up where it broke. */
export function createStandaloneStream(options: StandaloneStreamOptions): void {
  let lastId = options.resume?.lastId
  let retryMs = options.resume?.retryMs
  let failures = 0
  let open = false

  function start(): void {
    if (!options.isWanted()) return
    const resuming: [string, string][] = lastId === undefined ? [] : [['Last-Event-ID', lastId]]
    options.begin(
      {
        url: options.url,
        agent: options.agent,
        method: 'GET',
        headers: [...options.headers(), ['Accept', 'text/event-stream'], ...resuming],
      },
      {
        onHead(status, headers) {
          open = status === 200 && /^text\/event-stream\b/i.test(headers['content-type'] ?? '')
          if (open) return
          failures = status >= 500 ? failures + 1 : mostFailures
        },
        onEvent(event) {
          failures = 0
          lastId = event.id ?? lastId
          retryMs = event.retry ?? retryMs
          if (event.data && (!event.event || event.event === 'message')) options.onMessage(event.data)
        },
        onEnd() {
          if (!open) failures += 1
          open = false
          if (failures >= mostFailures) return options.onGivenUp()
          again()
        },
      },
    )
  }

  function again(): void {
    if (options.isWanted()) setTimeout(start, reconnectDelayMs(retryMs)).unref()
  }

  if (options.resume) again()
  else start()
}
