import { within } from '../../transports/index.js'

/** Characters that may wait for a server before its client is slowed down. */
const enough = 1 << 20
/** The longest slowdown of a client: its next call may be one of the recorded ones. */
const slowedMs = 2_000

/** Messages waiting to be sent to a server, in order. */
export interface Outbox {
  put(text: string): void
  /** Number of waiting characters. */
  readonly waiting: number
  /** Resolves when more may be put there, or nothing was sent for a while. */
  ready(): Promise<void>
  /** Resolves when everything was sent, or nothing was sent for that long. */
  settled(patienceMs: number): Promise<void>
}

/** @param send called for one message at a time; must not reject */
export function createOutbox(send: (text: string) => Promise<void>): Outbox {
  let waiting = 0
  let gone = 0
  let last: Promise<void> = Promise.resolve()

  async function settled(patienceMs: number): Promise<void> {
    for (;;) {
      const [before, all] = [gone, last]
      const isEmpty = await within(all, patienceMs)
      if (isEmpty ? last === all : gone === before) return
    }
  }

  return {
    put(text) {
      waiting += text.length
      last = last.then(async () => {
        await send(text)
        waiting -= text.length
        gone += 1
      })
    },
    get waiting() {
      return waiting
    },
    ready: () => (waiting <= enough ? Promise.resolve() : settled(slowedMs)),
    settled,
  }
}
