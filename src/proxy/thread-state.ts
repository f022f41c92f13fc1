import type { Disk } from '../tape/index.js'

/** What a recording thread is doing, for whoever waits for it: it cannot say so while it does it. One 32-bit integer. */
export type ThreadState = Int32Array<SharedArrayBuffer>

const waits = 0
const works = 1
const writes = 2

export function createThreadState(): ThreadState {
  return new Int32Array(new SharedArrayBuffer(4))
}

/** It has something to do, or all is done. */
export function tellWork(state: ThreadState, isBusy: boolean): void {
  Atomics.store(state, 0, isBusy ? works : waits)
}

/** It is busy with what it was given, and the disk has nothing to do with that. */
export function isWorking(state: ThreadState): boolean {
  return Atomics.load(state, 0) === works
}

/** A disk that tells when it is waited for. */
export function watchedDisk(disk: Disk, state: ThreadState): Disk {
  const watched = <T extends (...given: never[]) => unknown>(call: T): T =>
    ((...given: never[]) => {
      Atomics.store(state, 0, writes)
      try {
        return call(...given)
      } finally {
        Atomics.store(state, 0, works)
      }
    }) as T
  const { openSync, writeSync, ftruncateSync, fstatSync, fsyncSync, closeSync } = disk
  return {
    ...disk,
    openSync: watched(openSync),
    writeSync: watched(writeSync),
    ftruncateSync: watched(ftruncateSync),
    fstatSync: watched(fstatSync),
    fsyncSync: watched(fsyncSync),
    closeSync: watched(closeSync),
  }
}
