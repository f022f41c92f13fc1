import { idKey } from '../../wire/index.js'
import type { Call } from './http-call.js'

/** A request of a client that has no answer yet. */
export interface OpenRequest {
  readonly id: string
  readonly modern: boolean
  call?: Call
}

/** What a client waits for. */
export interface OpenRequests {
  readonly count: number
  add(one: OpenRequest): void
  find(id: string): OpenRequest | undefined
  isOpen(one: OpenRequest): boolean
  all(): OpenRequest[]
  /** Nobody waits for it any more. Does nothing for an id that is not known. */
  settle(id: string | undefined): void
  /** Resolves when the next one is settled. */
  settled(): Promise<void>
}

export function createOpenRequests(): OpenRequests {
  const requests = new Map<string, OpenRequest>()
  let onSettled = (): void => undefined
  return {
    get count() {
      return requests.size
    },
    add: (one) => void requests.set(idKey(one.id), one),
    find: (id) => requests.get(idKey(id)),
    isOpen: (one) => requests.get(idKey(one.id)) === one,
    all: () => [...requests.values()],
    settle(id) {
      if (id !== undefined && requests.delete(idKey(id))) onSettled()
    },
    settled: () => new Promise((resolve) => (onSettled = resolve)),
  }
}
