/** When bytes were seen, by both clocks. */
export interface Moment {
  /** Microseconds since the session began, monotonic. */
  readonly us: number
  /** Milliseconds since the epoch. */
  readonly wallMs: number
}

/** When a line of the tape is written, by both clocks. */
export interface Stamp {
  readonly t: string
  readonly us: number
}

/** Makes stamps. Those of one millisecond share its text. */
export function createStamp(): (at: Moment) => Stamp {
  let lastMs = Number.NaN
  let t = ''
  return ({ wallMs, us }) => {
    const ms = Math.floor(wallMs)
    if (ms !== lastMs) t = new Date((lastMs = ms)).toISOString()
    return { t, us: Math.round(us) }
  }
}
