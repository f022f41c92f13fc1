import { within } from '../../transports/index.js'

/** What waits for a server, in characters, before its client is slowed down. */
const enough = 1 << 20
/** A client is not slowed down for longer: it may ask for what was recorded. */
const slowedMs = 2_000

/** What waits to be sent to a server, in order. */
export interface Outbox {
  put(text: string): void
  /** Characters that wait. */
  readonly waiting: number
  /** Resolves when more may be put there, or nothing has gone for a while. */
  ready(): Promise<void>
  /** Resolves when all has gone, or nothing has for that long. */
  settled(patienceMs: number): Promise<void>
}

/** @param send takes one after the other; must not reject */
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
