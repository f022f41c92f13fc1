import { workflowCommand } from '../../render/index.js'
import { describeOffer, detailsOf, titleOf } from '../describe.js'
import { isNote } from '../compare-recordings.js'
import type { ComparisonReport } from './report.js'

/** Workflow commands: GitHub Actions shows each such line on stdout as an annotation. */
export function* githubReport({ exchanges, summary }: ComparisonReport): Generator<string, void, undefined> {
  if (summary.stopped !== undefined) yield workflowCommand('error', 'stopped', summary.stopped)
  for (const exchange of exchanges) {
    if (exchange.verdict === 'same') continue
    const level = exchange.verdict === 'fixed now' || exchange.verdict === 'new' ? 'warning' : 'error'
    const body = detailsOf(exchange).slice(0, 10).join('\n') || exchange.verdict
    const run = exchange.run === undefined ? '' : ` (run ${exchange.run})`
    yield workflowCommand(level, `${exchange.verdict}: ${titleOf(exchange)}${run}`, body, exchange.call)
  }
  for (const note of summary.notes ?? []) yield workflowCommand('notice', 'note', note)
  for (const offer of summary.offers) {
    const level = offer.impact === 'breaking' ? 'error' : isNote(offer) ? 'notice' : 'warning'
    yield workflowCommand(level, `${offer.impact} change`, describeOffer(offer))
  }
}
