import { detach } from './recent.js'

const minuteMs = 60_000
const zero = 48

/** Parses the times of a recording. They are in order, so the minute is usually that of the last one. */
export class Times {
  #minute = ''
  #minuteMs = NaN

  /** As `Date.parse`. */
  parse(time: string): number {
    if (time.length !== 24 || !time.endsWith('Z') || time[16] !== ':' || time[19] !== '.')
      return Date.parse(time)
    if (this.#minute === '' || !time.startsWith(this.#minute)) {
      const whole = Date.parse(time)
      const minute = Math.floor(whole / minuteMs) * minuteMs
      this.#minute = Number.isNaN(whole) ? '' : detach(time.slice(0, 16))
      this.#minuteMs = minute
      return whole
    }
    const seconds = digits(time, 17, 2)
    const ms = digits(time, 20, 3)
    // The platform rejects invalid times.
    return seconds < 60 && ms < 1000 ? this.#minuteMs + seconds * 1000 + ms : Date.parse(time)
  }
}

/** A number with this many digits; Infinity for anything else. */
function digits(text: string, start: number, count: number): number {
  let value = 0
  for (let i = start; i < start + count; i += 1) {
    const digit = text.charCodeAt(i) - zero
    if (digit < 0 || digit > 9) return Infinity
    value = value * 10 + digit
  }
  return value
}
