/** Deferred work: done while the server works on the message just sent. */
export interface Later {
  /** Work runs in the order in which it was added. */
  add(work: () => void): void
  /** Does the remaining work now. */
  finish(): void
}

/** @param failed takes an exception of one piece of work; the others still run */
export function createLater(failed: (error: unknown) => void): Later {
  let queue: (() => void)[] = []
  let due: NodeJS.Immediate | undefined

  function finish(): void {
    clearImmediate(due)
    due = undefined
    while (queue.length > 0) {
      const works = queue
      queue = []
      for (const work of works) {
        try {
          work()
        } catch (error) {
          failed(error)
        }
      }
    }
  }

  return {
    add(work) {
      queue.push(work)
      // After the callbacks of this turn, and so after everything they send.
      due ??= setImmediate(finish)
    },
    finish,
  }
}
