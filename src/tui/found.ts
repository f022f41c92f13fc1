import type { Finding } from '../findings/index.js'

/** Which finding of the list is chosen; the list may grow before it. */
export interface FoundList {
  readonly cursor: number
  readonly chosen: Finding | undefined
}
