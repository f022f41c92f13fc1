/** Reads the time of a line, `2026-11-20T10:00:00.000Z`; caches the minute, which consecutive lines mostly share. */
export class LineTimes {
  readonly #minute = new Uint8Array(minuteBytes)
  #minuteMs = Number.NaN

  /** Milliseconds since 1970; undefined if it is no time. */
  at(bytes: Uint8Array, start: number, end: number): number | undefined {
    if (end - start !== plainBytes || bytes[end - 1] !== 0x5a || bytes[start + 19] !== 0x2e)
      return timeOf(latin1(bytes, start, end))
    const minute = this.#minute
    for (let i = minuteBytes - 1; i >= 0; i -= 1)
      if (bytes[start + i] !== minute[i]) {
        minute.set(bytes.subarray(start, start + minuteBytes))
        this.#minuteMs = Date.parse(`${latin1(bytes, start, start + minuteBytes)}:00.000Z`)
        break
      }
    const tens = bytes[start + 17]! - ZERO
    const ones = bytes[start + 18]! - ZERO
    const first = bytes[start + 20]! - ZERO
    const second = bytes[start + 21]! - ZERO
    const third = bytes[start + 22]! - ZERO
    // The engine parses unusual forms. Values below 0 or above 9 are no digits.
    const isPlain = isDigit(tens) && isDigit(ones) && isDigit(first) && isDigit(second) && isDigit(third)
    if (!isPlain || tens > 5 || bytes[start + 16] !== 0x3a || Number.isNaN(this.#minuteMs))
      return timeOf(latin1(bytes, start, end))
    return this.#minuteMs + (tens * 10 + ones) * 1000 + first * 100 + second * 10 + third
  }
}

/** `2026-11-20T10:00` */
const minuteBytes = 16
const plainBytes = 24

const ZERO = 0x30

function isDigit(value: number): boolean {
  return value >= 0 && value <= 9
}

/** Milliseconds since 1970; undefined if it is no time. */
export function timeOf(text: string): number | undefined {
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? undefined : ms
}

export function latin1(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1')
}
