import type { Socket } from 'node:net'

/** Called once: with the connection, or with why there is none. Later errors of the connection are nobody's. */
export interface Dialled {
  readonly onConnected: (upstream: Socket) => void
  readonly onFailed: (why: string) => void
}
