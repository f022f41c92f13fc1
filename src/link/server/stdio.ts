import type { Readable, Writable } from 'node:stream'
import { createDrain } from '../../transports/index.js'
import { LineFramer, type LineFrame } from '../../wire/index.js'

/** A line of a client; `text` is undefined for an overlong line. */
export interface ClientLine {
  readonly text: string | undefined
  readonly bytes: Uint8Array
}

/** The server's end of a pair of streams to a client, with one message per line. */
export class StdioServerLink {
  readonly #input: Readable
  readonly #output: Writable
  readonly #drained: () => Promise<void>
  #hurry: () => void = () => undefined
  readonly #hurried = new Promise<void>((resolve) => (this.#hurry = resolve))
  #isGone = false
  #isHurried = false

  constructor(input: Readable, output: Writable) {
    this.#input = input
    this.#output = output
    this.#drained = createDrain(output)
    output.on('error', () => (this.#isGone = true))
    output.on('close', () => {
      this.#isGone = true
      input.destroy()
    })
  }

  /** Whether the client no longer reads. */
  get isGone(): boolean {
    return this.#isGone
  }

  /** Whether to wait for `drained` before sending more. */
  get isFull(): boolean {
    return this.#output.writableNeedDrain
  }

  /**
   * The client's lines, chunk by chunk, without blank ones. Ends with the input, also when it breaks or we close it.
   */
  async *chunks(): AsyncGenerator<readonly ClientLine[]> {
    const framer = new LineFramer()
    try {
      for await (const chunk of this.#input) yield linesOf(framer.push(chunk as Buffer))
    } catch {
      // The generator's end reports it.
    }
    yield linesOf(framer.end())
  }

  /** Resolves when the next message may be sent; at once when the client is gone. */
  send(text: string): Promise<void> {
    if (this.#isGone || this.#output.destroyed) return Promise.resolve()
    return this.#output.write(`${text}\n`) ? Promise.resolve() : this.drained()
  }

  drained(): Promise<void> {
    if (this.#isGone || this.#isHurried || !this.#output.writableNeedDrain) return Promise.resolve()
    return Promise.race([this.#drained(), this.#hurried])
  }

  /** Ends the output after everything written. */
  cut(): void {
    if (this.#output.writableLength > 0) this.#output.end()
    else this.#output.destroy()
  }

  /** Stops reading. From now on, senders no longer wait for the client. */
  close(): void {
    this.#input.destroy()
    this.#isHurried = true
    this.#hurry()
  }
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

function linesOf(frames: readonly LineFrame[]): ClientLine[] {
  return frames.flatMap((frame): ClientLine[] => {
    if (frame.kind === 'piece') return frame.last ? [{ text: undefined, bytes: frame.bytes }] : []
    const text = utf8.decode(frame.bytes)
    return text.trim() === '' ? [] : [{ text, bytes: frame.bytes }]
  })
}
