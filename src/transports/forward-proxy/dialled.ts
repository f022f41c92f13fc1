import type { Socket } from 'node:net'

/** Exactly one is called, once: with the connection, or the failure. Later connection errors are ignored. */
export interface Dialled {
  readonly onConnected: (upstream: Socket) => void
  readonly onFailed: (why: string) => void
}
