import type { ServerLink } from '../link/index.js'
import type { Message } from '../wire/index.js'

/** A call of the client that matched a recorded one. */
export interface LiveCall extends Message {
  readonly row: number
  /** Exact text. */
  readonly id: string
  readonly sink: ServerLink
  readonly stop: AbortController
  readonly cancelled: Gate
  answered: boolean
}

/** An event that others wait for. */
export interface Gate {
  /** False when the event will never happen. */
  readonly passed: Promise<boolean>
  open(came: boolean): void
}

export function createGate(): Gate {
  let open: (came: boolean) => void = () => undefined
  const passed = new Promise<boolean>((resolve) => (open = resolve))
  return { passed, open }
}
