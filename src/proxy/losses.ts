import type { HttpEvent, UnheardMessage } from '../transports/index.js'
import type { Channel } from './channel.js'
import type { RecorderMessage } from './recorder-core.js'

interface Loss {
  bytes: number
  lines: number
  atLineStart: boolean
}

/** Counts of the traffic that passed without the tape. */
export class Losses {
  readonly #channels = new Map<Channel, Loss>()
  #http: { bytes: number; messages: number } | undefined

  addChunk(channel: Channel, chunk: Uint8Array): void {
    let loss = this.#channels.get(channel)
    if (!loss) this.#channels.set(channel, (loss = { bytes: 0, lines: 0, atLineStart: false }))
    loss.bytes += chunk.length
    for (let at = chunk.indexOf(0x0a); at !== -1; at = chunk.indexOf(0x0a, at + 1)) loss.lines += 1
    loss.atLineStart = chunk.at(-1) === 0x0a
  }

  addHttp(event: HttpEvent | UnheardMessage): void {
    this.#http ??= { bytes: 0, messages: 0 }
    // A POST counts as two messages, because its response is not recorded without it.
    if (event.kind === 'request' && event.method === 'POST') this.#http.messages += 2
    this.#http.bytes += 'bytes' in event ? event.bytes.length : 0
  }

  /** Messages for the recording thread, in order. @param moment when recording continues */
  *messages(moment: { us: number; wallMs: number }, why: string): Generator<RecorderMessage> {
    if (this.#http) yield { kind: 'http-lost', ...moment, ...this.#http, why }
    for (const [channel, loss] of this.#channels) yield { kind: 'lost', channel, ...moment, ...loss, why }
  }
}
