import type { Readable, Writable } from 'node:stream'
import { createDrain } from '../../transports/index.js'
import { createLineFramer, type LineFrame } from '../../wire/index.js'

/** A line of a client; `text` is undefined for one that is too long to be read. */
export interface ClientLine {
  readonly text: string | undefined
  readonly bytes: Uint8Array
}

/** The server's end towards a client on a pair of streams, one message a line. */
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

  /** The client reads no more. */
  get isGone(): boolean {
    return this.#isGone
  }

  /** Nothing more should be sent before `drained`. */
  get isFull(): boolean {
    return this.#output.writableNeedDrain
  }

  /**
   * What the client says, chunk by chunk, without blank lines. Ends with its input, also where that breaks or is closed
   * by us: either way it says nothing more.
   */
  async *chunks(): AsyncGenerator<readonly ClientLine[]> {
    const framer = createLineFramer()
    try {
      for await (const chunk of this.#input) yield linesOf(framer.push(chunk as Buffer))
    } catch {
      // Told by the end.
    }
    yield linesOf(framer.end())
  }

  /** Resolves when the next may be sent; at once when nobody reads any more. */
  send(text: string): Promise<void> {
    if (this.#isGone || this.#output.destroyed) return Promise.resolve()
    return this.#output.write(`${text}\n`) ? Promise.resolve() : this.drained()
  }

  drained(): Promise<void> {
    if (this.#isGone || this.#isHurried || !this.#output.writableNeedDrain) return Promise.resolve()
    return Promise.race([this.#drained(), this.#hurried])
  }

  /** Ends the output; what was said before still goes out. */
  cut(): void {
    if (this.#output.writableLength > 0) this.#output.end()
    else this.#output.destroy()
  }

  /** Reads no more, and from now on nobody waits until the client has read. */
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
