import { toPointer } from '../compare/index.js'
import { jsonIn } from '../wire/index.js'
import type { MessageOutcome } from './outcome.js'

/** The server that a result file describes. */
export interface ResultTarget {
  readonly command: string | null
  readonly url: string | null
}

/**
 * The result file as documented for the session workflow (docs/replay.md), one piece at a time. Beside the
 * documented members an entry has `recorded_response`, `verdict`, `sequence` and `differences`. Messages appear with
 * their exact text.
 */
export function* resultFile(
  target: ResultTarget,
  outcomes: readonly MessageOutcome[],
): Generator<string, void, undefined> {
  yield `{\n  "target_command": ${JSON.stringify(target.command)},\n  "target_url": ${JSON.stringify(target.url)},\n  "results": [`
  for (const [i, outcome] of outcomes.entries()) yield `${i === 0 ? '' : ','}\n    {${entry(outcome)}\n    }`
  yield `${outcomes.length > 0 ? '\n  ' : ''}]\n}`
}

function entry(outcome: MessageOutcome): string {
  const { original, sent, response, recorded, error, durationUs, message, comparison, status, run } = outcome
  const members: (readonly [string, string])[] = [
    ['original_request', jsonOr(original)],
    ['sent_message', jsonOr(sent)],
    ['response', jsonOr(response)],
    ['error', JSON.stringify(error ?? null)],
    ['duration_ms', String((durationUs ?? 0) / 1000)],
    ['recorded_response', jsonOr(recorded)],
    ['verdict', JSON.stringify(comparison?.verdict ?? (status === 'sent' ? null : status))],
    ['sequence', String(message.seq)],
  ]
  if (run !== undefined) members.push(['run', String(run)])
  if (comparison && comparison.differences.length > 0) {
    const list = comparison.differences.map(({ kind, place, before, after }) => {
      const value = (name: string, text: string | undefined): string =>
        text === undefined ? '' : `, "${name}": ${jsonOr(text)}`
      return `{"kind": "${kind}", "pointer": ${JSON.stringify(toPointer(place))}${value('before', before)}${value('after', after)}}`
    })
    members.push(['differences', `[\n        ${list.join(',\n        ')}\n      ]`])
  }
  return members.map(([name, text]) => `\n      "${name}": ${text}`).join(',')
}

function jsonOr(text: string | undefined): string {
  if (text === undefined) return 'null'
  return jsonIn(text) === undefined ? JSON.stringify(text) : text
}
