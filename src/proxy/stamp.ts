import type { Moment } from './record-builder.js'

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
