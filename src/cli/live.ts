import type { LiveCapture } from '../control/index.js'
import { segmentPath, type TapeSummary } from '../tape/index.js'

/** Whether a capture writes this tape now. The registry has a capture's session and first file. */
export function isLive(tape: Pick<TapeSummary, 'path' | 'meta'>, captures: readonly LiveCapture[]): boolean {
  const identity = tape.meta.wiretape
  return captures.some((capture) =>
    identity
      ? capture.session === identity.session
      : // A strict tape names neither its session nor its segment.
        tape.path === capture.tape || isSegmentOf(tape.path, capture.tape),
  )
}

function isSegmentOf(path: string, first: string): boolean {
  const number = /\.(\d+)\.jsonl$/.exec(path)?.[1]
  return number !== undefined && segmentPath(first, Number(number)) === path
}
