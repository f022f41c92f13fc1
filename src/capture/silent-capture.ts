import type { Recorder } from '../proxy/index.js'
import type { Redactor } from '../redaction/index.js'
import type { Live } from './live.js'
import type { RunningCapture } from './capture-options.js'

/** Replaces a capture that may not record: all is forwarded, nothing is kept, no program can attach. */
export function createSilentCapture(redactor: Redactor, why: string, wantsHolding: boolean): RunningCapture {
  const tape = { paths: [], messages: 0, gaps: 0, lost: 0, redacted: [] }
  const nothing = (): undefined => undefined
  const recorder: Recorder = {
    ready: Promise.resolve(),
    bytes: nothing,
    ended: nothing,
    http: nothing,
    undelivered: nothing,
    enter: nothing,
    openRequests: () => Promise.resolve([]),
    toolHeaders: () => Promise.resolve(undefined),
    close: () => Promise.resolve(tape),
  }
  const notHeld = wantsHolding ? 'messages were not held or changed, because nothing is recorded' : undefined
  const live: Live = {
    connect: nothing,
    listen: () => Promise.resolve(),
    tapeGrew: nothing,
    say: () => Promise.resolve(),
    intercept: undefined,
    notHeld,
    rulesFault: undefined,
    over: nothing,
    finish: () => Promise.resolve(),
  }
  return {
    redactor,
    path: '',
    live,
    record(_, early) {
      early?.thread?.close()
      return recorder
    },
    register: nothing,
    note: nothing,
    finish: () => Promise.resolve({ tape, unrecorded: why, ...(notHeld !== undefined && { notHeld }) }),
    close: nothing,
  }
}
