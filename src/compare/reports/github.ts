import { escapeLines } from '../../render/index.js'
import { describeOffer, detailsOf, titleOf } from '../describe.js'
import { isNote } from '../compare-recordings.js'
import type { ComparisonReport } from './report.js'

/** Workflow commands: GitHub Actions shows each line as an annotation when it stands on stdout. */
export function* githubReport({ exchanges, summary }: ComparisonReport): Generator<string, void, undefined> {
  if (summary.stopped !== undefined) yield `::error title=stopped::${message(summary.stopped)}\n`
  for (const exchange of exchanges) {
    if (exchange.verdict === 'same') continue
    const level = exchange.verdict === 'fixed now' || exchange.verdict === 'new' ? 'warning' : 'error'
    const body = detailsOf(exchange).slice(0, 10).join('\n') || exchange.verdict
    const run = exchange.run === undefined ? '' : ` (run ${exchange.run})`
    yield `::${level} title=${property(`${exchange.verdict}: ${titleOf(exchange)}${run}`)}::${message(body)}\n`
  }
  for (const note of summary.notes ?? []) yield `::notice title=note::${message(note)}\n`
  for (const offer of summary.offers) {
    const level = offer.impact === 'breaking' ? 'error' : isNote(offer) ? 'notice' : 'warning'
    yield `::${level} title=${property(`${offer.impact} change`)}::${message(describeOffer(offer))}\n`
  }
}

/** A line that begins with `::` inside a text would be a command of its own. */
function message(text: string): string {
  return escapeLines(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function property(text: string): string {
  return message(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
