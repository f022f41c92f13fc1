import type { LentMessage } from '../trace-v1/index.js'
import type { Placed } from '../text-chunks.js'
import type { ToldMessage } from '../told/told.js'
import { cell } from './cell.js'

const [COMMA, POINT, ZERO, QUOTE, CR, LF] = [0x2c, 0x2e, 0x30, 0x22, 0x0d, 0x0a]
/** Numbers above have more digits than JavaScript prints exactly as fractions. */
const mostExact = 1e15
/** Bytes of all cells except the longer texts, with their separators. */
const usualBytes = 512
/** Bytes of a cell per UTF-16 code unit: three in UTF-8, and quotes are doubled. */
const bytesAUnit = 6
/** Longer rows are written in pieces. */
const longest = 1 << 16
const utf8 = new TextEncoder()
/** ASCII that no cell changes: 2 for characters that may begin it, 1 for others. */
const usual = Uint8Array.from({ length: 0x80 }, (_, code) => {
  const character = String.fromCharCode(code)
  return /[A-Za-z0-9_./:]/.test(character) ? 2 : /[+@ -]/.test(character) ? 1 : 0
})

/**
 * The row of a message whose payload a thread quoted, written as bytes: recordings have millions. The same bytes as from
 * `messageCells`.
 *
 * @returns undefined for a long row
 */
export function lentRow(told: ToldMessage, record: LentMessage, payload: Uint8Array): Placed | undefined {
  const { envelope } = told.part
  const asked = told.request?.envelope
  const units =
    lengthOf(envelope.method ?? asked?.method) +
    lengthOf(envelope.subject ?? asked?.subject) +
    lengthOf(envelope.id) +
    lengthOf(envelope.errorCode) +
    lengthOf(envelope.errorMessage) +
    lengthOf(record.conversation) +
    record.timeLength
  const mostBytes = usualBytes + bytesAUnit * units + payload.length
  return mostBytes > longest ? undefined : new LentRow(mostBytes, told, record, payload)
}

function lengthOf(text: string | undefined): number {
  return text === undefined ? 0 : text.length
}

class LentRow implements Placed {
  readonly mostBytes: number
  readonly #told: ToldMessage
  readonly #record: LentMessage
  readonly #payload: Uint8Array

  constructor(mostBytes: number, told: ToldMessage, record: LentMessage, payload: Uint8Array) {
    this.mostBytes = mostBytes
    this.#told = told
    this.#record = record
    this.#payload = payload
  }

  put(chunk: Uint8Array, start: number): number {
    const { part, seq, us, latencyUs, sizeBytes, request } = this.#told
    const { envelope } = part
    const asked = request?.envelope
    cells.begin(chunk, start)
    cells.number(seq)
    cells.time(us === undefined ? undefined : this.#record)
    cells.milliseconds(us)
    cells.plain(this.#record.direction)
    cells.plain(envelope.kind)
    cells.text(envelope.method ?? asked?.method)
    cells.text(envelope.subject ?? asked?.subject)
    cells.text(envelope.id)
    cells.number(request?.seq)
    cells.milliseconds(latencyUs)
    cells.text(envelope.errorCode)
    cells.text(envelope.errorMessage)
    cells.plain(envelope.toolError ? 'true' : '')
    cells.text(this.#record.conversation)
    // Neither an HTTP status nor an edit: such messages are not lent.
    cells.plain('')
    cells.plain('')
    cells.number(sizeBytes)
    return cells.end(this.#payload)
  }
}

/** Writes cells, each with its comma. */
class Cells {
  #chunk: Uint8Array = new Uint8Array(0)
  #at = 0

  begin(chunk: Uint8Array, at: number): void {
    this.#chunk = chunk
    this.#at = at
  }

  plain(text: string): void {
    this.#put(text)
    this.#chunk[this.#at++] = COMMA
  }

  text(text: string | undefined): void {
    const start = this.#at
    if (text !== undefined && !this.#putUsual(text)) {
      this.#at = start
      this.#put(cell(text))
    }
    this.#chunk[this.#at++] = COMMA
  }

  number(value: number | undefined): void {
    if (value === undefined) this.plain('')
    else if (Number.isSafeInteger(value) && value >= 0) {
      this.#digits(value)
      this.#chunk[this.#at++] = COMMA
    } else this.plain(`${value}`)
  }

  milliseconds(us: number | undefined): void {
    if (us === undefined) this.plain('')
    else if (Number.isInteger(us) && us >= 0 && us < mostExact) {
      const whole = Math.floor(us / 1000)
      this.#digits(whole)
      this.#thousandths(us - whole * 1000)
      this.#chunk[this.#at++] = COMMA
    } else this.plain(`${us / 1000}`)
  }

  time(record: LentMessage | undefined): void {
    const end = record ? record.putTime(this.#chunk, this.#at) : this.#at
    if (end < 0) this.text(record!.t)
    else {
      this.#at = end
      this.#chunk[this.#at++] = COMMA
    }
  }

  /** @returns the end of the row */
  end(payload: Uint8Array): number {
    const chunk = this.#chunk
    chunk[this.#at] = QUOTE
    chunk.set(payload, this.#at + 1)
    const at = this.#at + 1 + payload.length
    chunk[at] = QUOTE
    chunk[at + 1] = CR
    chunk[at + 2] = LF
    return at + 3
  }

  /** False for a text that `cell` may have to change. */
  #putUsual(text: string): boolean {
    const { length } = text
    for (let i = 0; i < length; i += 1) {
      const code = text.charCodeAt(i)
      if (code >= 0x80 || usual[code]! <= (i === 0 ? 1 : 0)) return false
      this.#chunk[this.#at++] = code
    }
    return true
  }

  #put(text: string): void {
    const { length } = text
    for (let i = 0; i < length; i += 1) {
      const code = text.charCodeAt(i)
      if (code >= 0x80) {
        this.#at += utf8.encodeInto(text.slice(i), this.#chunk.subarray(this.#at)).written
        return
      }
      this.#chunk[this.#at++] = code
    }
  }

  #digits(value: number): void {
    let end = this.#at + 1
    for (let limit = 10; value >= limit; limit *= 10) end += 1
    this.#at = end
    let rest = value
    do {
      const next = Math.floor(rest / 10)
      end -= 1
      this.#chunk[end] = ZERO + rest - next * 10
      rest = next
    } while (rest > 0)
  }

  #thousandths(value: number): void {
    if (value === 0) return
    this.#chunk[this.#at++] = POINT
    for (let rest = value, unit = 100; rest > 0; unit /= 10) {
      const digit = Math.floor(rest / unit)
      this.#chunk[this.#at++] = ZERO + digit
      rest -= digit * unit
    }
  }
}

const cells = new Cells()
