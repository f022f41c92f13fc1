/** The arrival of bytes, by both clocks. */
export interface Moment {
  /** Microseconds since the session began, monotonic. */
  readonly us: number
  /** Milliseconds since the epoch. */
  readonly wallMs: number
}

/** The time of a line on the tape, by both clocks. */
export interface Stamp {
  readonly t: string
  readonly us: number
}

/** Creates stamps. Stamps of the same millisecond share their text. */
export function createStamp(): (at: Moment) => Stamp {
  let lastMs = Number.NaN
  let t = ''
  return ({ wallMs, us }) => {
    const ms = Math.floor(wallMs)
    if (ms !== lastMs) t = new Date((lastMs = ms)).toISOString()
    return { t, us: Math.round(us) }
  }
}
