import type { LineFrame } from '../../wire/index.js'
import { LineFramer } from '../../wire/index.js'
import type { ReadPlain } from './plain-form.js'
import { PlainLine } from './plain-line.js'
import type { PlainLines } from './plain-lines.js'

const LF = 0x0a

/** Consumers of lines, in order. */
export interface LineTakers {
  /** Takes a line as offsets in `bytes`. False when it must be taken otherwise. */
  plain(bytes: Uint8Array, line: PlainLine, start: number, lf: number): boolean
  frames(frames: readonly LineFrame[]): void
  /** Other whole lines; `frames` by default. */
  whole?(bytes: Uint8Array): boolean
}

/** Bytes of a file in, its lines out: plain ones as offsets, others as frames. */
export class PlainScan {
  readonly #read: ReadPlain
  readonly #takers: LineTakers
  readonly #framer: LineFramer
  readonly #plain = new PlainLine()
  #atStart = true

  constructor(read: ReadPlain, takers: LineTakers, options: ConstructorParameters<typeof LineFramer>[0]) {
    this.#read = read
    this.#takers = takers
    this.#framer = new LineFramer(options)
  }

  /** @param lines plain lines of the chunk that were found already */
  push(chunk: Uint8Array, lines?: PlainLines): void {
    let start = 0
    // The first line may have a byte order mark, and a pending partial line comes first.
    if (this.#atStart || !this.#framer.isAtLineStart) {
      const lf = chunk.indexOf(LF)
      start = lf < 0 ? chunk.length : lf + 1
      this.#takers.frames(this.#framer.push(chunk.subarray(0, start)))
      if (lf >= 0) this.#atStart = false
    }
    const end = chunk.lastIndexOf(LF) + 1
    if (end > start) {
      this.#pushLines(chunk.subarray(0, end), start, lines)
      start = end
    }
    this.#takers.frames(this.#framer.push(chunk.subarray(start)))
  }

  /** End of input: a last line without line feed. */
  end(): void {
    this.#takers.frames(this.#framer.end())
  }

  /** Adjacent lines that are not plain are taken together. */
  #pushLines(bytes: Uint8Array, start: number, lines: PlainLines | undefined): void {
    let other = start
    let from = start
    while (from < bytes.length) {
      const lf = lines ? lines.read(from, this.#plain) : this.#read(bytes, from, this.#plain)
      if (lf < 0) {
        from = bytes.indexOf(LF, from) + 1
        continue
      }
      if (from > other) this.#pushOthers(bytes.subarray(other, from))
      other = from
      if (this.#takers.plain(bytes, this.#plain, from, lf)) {
        this.#framer.skip(lf + 1 - from)
        other = lf + 1
      }
      from = lf + 1
    }
    if (from > other) this.#pushOthers(bytes.subarray(other))
  }

  #pushOthers(bytes: Uint8Array): void {
    if (this.#takers.whole?.(bytes)) this.#framer.skip(bytes.length)
    else this.#takers.frames(this.#framer.push(bytes))
  }
}
