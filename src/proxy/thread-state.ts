import type { Disk } from '../tape/index.js'
import type { Channel } from './channel.js'

/**
 * Memory that a recording thread shares with the main thread: its current activity, which it cannot report while busy,
 * and its progress, which it cannot report when dead.
 */
export interface ThreadState {
  readonly doing: Int32Array<SharedArrayBuffer>
  readonly done: Float64Array<SharedArrayBuffer>
}

/** Progress of a recording thread. Everything in it is on the tape, or counted as lost. */
export interface Progress {
  /** Number of the next message. */
  readonly next: number
  /** Segment that is being written. */
  readonly segment: number
  /** Messages and gaps in the files, and lost messages. */
  readonly messages: number
  readonly gaps: number
  readonly lost: number
  /** Bytes of each channel up to the end of the last frame. */
  readonly recorded: Readonly<Record<Channel, number>>
  /** Forwarded bytes minus received bytes. */
  readonly shift: Readonly<Record<'in' | 'out', number>>
}

const waits = 0
const works = 1
const writes = 2
/** Number of values in `Progress`. */
const progressSize = 10

export function createThreadState(): ThreadState {
  return {
    doing: new Int32Array(new SharedArrayBuffer(4)),
    done: new Float64Array(new SharedArrayBuffer(progressSize * Float64Array.BYTES_PER_ELEMENT)),
  }
}

/** The thread begins a message, or is idle again. */
export function tellWork(state: ThreadState, isBusy: boolean): void {
  Atomics.store(state.doing, 0, isBusy ? works : waits)
}

/** Whether the thread is computing, not waiting for the disk. */
export function isWorking(state: ThreadState): boolean {
  return Atomics.load(state.doing, 0) === works
}

export function tellProgress({ done }: ThreadState, progress: Progress): void {
  const { next, segment, messages, gaps, lost, recorded, shift } = progress
  done[0] = next
  done[1] = segment
  done[2] = messages
  done[3] = gaps
  done[4] = lost
  done[5] = recorded.in
  done[6] = recorded.out
  done[7] = recorded.err
  done[8] = shift.in
  done[9] = shift.out
}

export function progressOf({ done }: ThreadState): Progress {
  const at = (index: number): number => done[index] ?? 0
  return {
    next: at(0),
    segment: at(1),
    messages: at(2),
    gaps: at(3),
    lost: at(4),
    recorded: { in: at(5), out: at(6), err: at(7) },
    shift: { in: at(8), out: at(9) },
  }
}

/** A disk whose calls mark the thread as writing. */
export function watchedDisk(disk: Disk, state: ThreadState): Disk {
  const watched = <T extends (...given: never[]) => unknown>(call: T): T =>
    ((...given: never[]) => {
      Atomics.store(state.doing, 0, writes)
      try {
        return call(...given)
      } finally {
        Atomics.store(state.doing, 0, works)
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
