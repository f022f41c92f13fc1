/** Reads the time of a line, `2026-11-20T10:00:00.000Z`; caches the minute, which consecutive lines mostly share. */
export class LineTimes {
  readonly #minute = new Uint8Array(minuteBytes)
  #minuteMs = Number.NaN

  /** Milliseconds since 1970; undefined if it is no time. */
  at(bytes: Uint8Array, start: number, end: number): number | undefined {
    if (end - start !== plainBytes || bytes[end - 1] !== 0x5a || bytes[start + 19] !== 0x2e)
      return timeOf(latin1(bytes, start, end))
    for (let i = 0; i < minuteBytes; i += 1)
      if (bytes[start + i] !== this.#minute[i]) {
        this.#minute.set(bytes.subarray(start, start + minuteBytes))
        this.#minuteMs = Date.parse(`${latin1(bytes, start, start + minuteBytes)}:00.000Z`)
        break
      }
    const second = digit(bytes, start + 17) * 10 + digit(bytes, start + 18)
    const ms =
      digit(bytes, start + 20) * 100 +
      digit(bytes, start + 21) * 10 +
      digit(bytes, start + 22) +
      second * 1000
    // The engine parses unusual forms.
    if (!(ms < 60_000) || bytes[start + 16] !== 0x3a || Number.isNaN(this.#minuteMs))
      return timeOf(latin1(bytes, start, end))
    return this.#minuteMs + ms
  }
}

/** `2026-11-20T10:00` */
const minuteBytes = 16
const plainBytes = 24

/** NaN if it is no digit. */
function digit(bytes: Uint8Array, at: number): number {
  const value = bytes[at]! - 0x30
  return value >= 0 && value <= 9 ? value : Number.NaN
}

/** Milliseconds since 1970; undefined if it is no time. */
export function timeOf(text: string): number | undefined {
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? undefined : ms
}

export function latin1(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1')
}
