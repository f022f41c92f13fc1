import type { LiveCapture } from '../control/index.js'
import { segmentPath, type TapeSummary } from '../tape/index.js'

/** Whether a capture writes this tape now. The registry knows the session and the file a capture began with. */
export function isLive(tape: Pick<TapeSummary, 'path' | 'meta'>, captures: readonly LiveCapture[]): boolean {
  const identity = tape.meta.wiretape
  return captures.some((capture) =>
    identity
      ? capture.session === identity.session
      : // A strict tape does not say which session it is, nor which segment.
        tape.path === capture.tape || isSegmentOf(tape.path, capture.tape),
  )
}

function isSegmentOf(path: string, first: string): boolean {
  const number = /\.(\d+)\.jsonl$/.exec(path)?.[1]
  return number !== undefined && segmentPath(first, Number(number)) === path
}
