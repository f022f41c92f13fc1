/** Work that nobody waits for: it is done while the server works on what it was just sent. */
export interface Later {
  /** In the order in which it was given. */
  add(work: () => void): void
  /** Does now what is left. */
  finish(): void
}

/** @param failed takes what a piece of work threw; the others go on */
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
      // After the callbacks of this turn, and so after what they send.
      due ??= setImmediate(finish)
    },
    finish,
  }
}
