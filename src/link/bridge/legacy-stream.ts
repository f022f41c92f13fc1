import type http from 'node:http'
import type { startCall } from './http-call.js'

/** The event stream of a server that speaks HTTP+SSE (2024-11-05). */
export interface LegacyStream {
  /** Where messages are sent. */
  readonly postUrl: URL
}

export interface LegacyStreamOptions {
  readonly url: URL
  readonly agent: http.Agent
  readonly headers: readonly (readonly [string, string])[]
  /** Text of a message. */
  onMessage(text: string): void
  /** The stream is over, and the session with it. @param broken why it ended before its time */
  onEnd(broken: string | undefined): void
  readonly begin: typeof startCall
}

const patienceMs = 10_000

/** Undefined when the server does not tell where to send messages: then it speaks something else. */
export function openLegacyStream(options: LegacyStreamOptions): Promise<LegacyStream | undefined> {
  return new Promise((resolve) => {
    let isOpen = false
    const call = options.begin(
      {
        url: options.url,
        agent: options.agent,
        method: 'GET',
        headers: [...options.headers, ['Accept', 'text/event-stream']],
      },
      {
        onHead(status) {
          if (status !== 200) call.abort()
        },
        onEvent({ event, data }) {
          if (data === undefined) return
          if (!isOpen && event === 'endpoint') {
            const postUrl = URL.canParse(data, options.url.href) ? new URL(data, options.url.href) : undefined
            // Nobody else gets what a client says, and its headers.
            if (postUrl?.origin !== options.url.origin) return call.abort()
            isOpen = true
            clearTimeout(patience)
            resolve({ postUrl })
          } else if (!event || event === 'message') options.onMessage(data)
        },
        onEnd(_, broken) {
          clearTimeout(patience)
          if (isOpen) options.onEnd(broken)
          resolve(undefined)
        },
      },
    )
    const patience = setTimeout(() => call.abort(), patienceMs)
  })
}
