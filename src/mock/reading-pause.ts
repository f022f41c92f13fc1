import { noRow, type Script } from './script.js'

/** Shorter ones made no difference to a client. */
const shortestUs = 1_000
/** Enough for a client that is busy. */
const longestMs = 20

/** Where to leave a client the time to read what was said, whatever the pace. */
export interface ReadingPause {
  /** Before this message of the server. */
  readonly row: number
  readonly ms: number
}

/**
 * Clients of the official SDKs hand progress on a moment after they have read it, but end the request as soon as they
 * read the answer: progress that is read together with the answer is lost. So where the recorded server paused between
 * the two, the mock does too; the last such pause of a call will do.
 *
 * @param call the recorded call
 * @returns undefined where no progress came before the answer, or all of it at once with that
 */
export function readingPause(script: Script, call: number): ReadingPause | undefined {
  const answer = script.answerTo(call)
  if (answer === noRow || !script.isNamed(call)) return undefined
  let saidUs: number | undefined
  let pause: ReadingPause | undefined
  for (let row = script.firstEffect(call); row !== noRow; row = script.nextEffect(row)) {
    const us = script.us(row)
    if (saidUs !== undefined && us - saidUs >= shortestUs)
      pause = { row, ms: Math.min(longestMs, (us - saidUs) / 1000) }
    if (row === answer) break
    if (saidUs !== undefined || (script.kind(row) === 'notice' && script.names(row) === call)) saidUs = us
  }
  return pause
}
