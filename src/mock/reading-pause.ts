import { noRow, type Script } from './script.js'

/** Shorter pauses made no difference to a client. */
const shortestUs = 1_000
/** Enough for a busy client. */
const longestMs = 20

/** A pause that gives a client time to read earlier messages, whatever the pace. */
export interface ReadingPause {
  /** The pause comes before this message of the server. */
  readonly row: number
  readonly ms: number
}

/**
 * Clients of the official SDKs pass progress on a moment after reading it, but end the request as soon as they read
 * the response: progress that is read together with the response is lost. Where the recorded server paused between the
 * two, the mock therefore does too; the last such pause of a call is enough.
 *
 * @param call the recorded call
 * @returns undefined if no progress came before the response, or all of it came together with the response
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
