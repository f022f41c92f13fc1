import type { Finding } from '../findings/index.js'

/** The chosen finding of the list; findings may be inserted before it. */
export interface FoundList {
  readonly cursor: number
  readonly chosen: Finding | undefined
}
