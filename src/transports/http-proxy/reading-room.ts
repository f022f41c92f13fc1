import { longestMessage } from '../../wire/index.js'

/** Limit for all bodies that are read whole, in bytes. Above it, only the oldest body is read further. */
const mostBytes = longestMessage

/** Limits the memory of all bodies that are read whole for a gatekeeper. */
export interface ReadingRoom {
  /** @param steer called whenever `mustWait` may have changed */
  enter(steer: () => void): Reading
}

/** One body. */
export interface Reading {
  took(sizeBytes: number): void
  mustWait(): boolean
  /** The body is complete, or no longer read. Can be called twice. */
  leave(): void
}

export function createReadingRoom(limitBytes = mostBytes): ReadingRoom {
  interface Entry {
    readonly steer: () => void
    sizeBytes: number
  }
  let entries: Entry[] = []
  let totalBytes = 0
  return {
    enter(steer) {
      const entry: Entry = { steer, sizeBytes: 0 }
      entries.push(entry)
      return {
        took(sizeBytes) {
          entry.sizeBytes += sizeBytes
          totalBytes += sizeBytes
        },
        mustWait: () => totalBytes > limitBytes && entries[0] !== entry,
        leave() {
          if (!entries.includes(entry)) return
          const wasFull = totalBytes > limitBytes
          entries = entries.filter((other) => other !== entry)
          totalBytes -= entry.sizeBytes
          if (wasFull) for (const { steer } of entries) steer()
        },
      }
    },
  }
}
