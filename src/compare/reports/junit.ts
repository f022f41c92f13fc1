import { escapeXml as xml } from '../../render/index.js'
import { isNote } from '../compare-recordings.js'
import type { ExchangeComparison } from '../comparison.js'
import { describeOffer, describeVaried, detailsOf, titleOf } from '../describe.js'
import type { OfferChange } from '../offer-change.js'
import type { ComparisonReport } from './report.js'

/** The report as JUnit XML: one test case per exchange, and one per changed offer. */
export function* junitReport(report: ComparisonReport): Generator<string, void, undefined> {
  const { exchanges, summary } = report
  const { counts, offers } = summary
  const { stopped } = summary
  const errors = stopped === undefined ? 0 : 1
  const total = errors + exchanges.length + offers.length
  // Unsent exchanges have one cause, reported as an error of its own.
  const skipped = stopped === undefined ? 0 : counts['not sent']
  const failures = exchanges.length - counts.same - skipped + offers.filter((offer) => !isNote(offer)).length
  const numbers = `tests="${total}" failures="${failures}" errors="${errors}"`
  const name = xml(`${report.before} → ${report.after}`)
  yield `<?xml version="1.0" encoding="UTF-8"?>\n`
  // Jenkins' schema (junit-10.xsd) allows `skipped` on a suite only.
  yield `<testsuites ${numbers}>\n  <testsuite name="${name}" ${numbers} skipped="${skipped}">\n`
  if (stopped !== undefined) yield `${stoppedCase(stopped)}\n`
  for (const exchange of exchanges) yield `${exchangeCase(exchange, stopped !== undefined)}\n`
  for (const offer of offers) yield `${offerCase(offer)}\n`
  const notes = (summary.notes ?? []).map((note) => xml(`Note: ${note}`)).join('&#10;')
  if (notes !== '') yield `    <system-out>${notes}</system-out>\n`
  yield '  </testsuite>\n</testsuites>\n'
}

/** A stopped replay may have no other failure, and must not pass in CI. */
function stoppedCase(why: string): string {
  const open = '    <testcase classname="replay" name="completed" time="0">'
  return `${open}\n      <error message="${xml(why)}" type="stopped">${xml(why)}</error>\n    </testcase>`
}

function exchangeCase(exchange: ExchangeComparison, isStopped: boolean): string {
  const { verdict, after, before, run } = exchange
  const seconds = ((after?.latencyUs ?? 0) / 1e6).toFixed(6)
  const number = exchange.call ? undefined : (before?.seq ?? after?.seq)
  const which = `${number === undefined ? '' : ` #${number}`}${run === undefined ? '' : ` (run ${run})`}`
  const name = `${titleOf(exchange)}${which}`
  const open = `    <testcase classname="${xml(exchange.call?.file ?? exchange.method)}" name="${xml(name)}" time="${seconds}"`
  const varied = xml(
    (exchange.varied ?? []).map((one) => `varies between runs: ${describeVaried(one)}`).join('\n'),
  )
  const output = varied === '' ? '' : `\n      <system-out>${varied}</system-out>`
  if (verdict === 'same') return output === '' ? `${open}/>` : `${open}>${output}\n    </testcase>`
  const details = xml(detailsOf(exchange).join('\n'))
  if (verdict === 'not sent' && isStopped)
    return `${open}>\n      <skipped message="${details}"/>\n    </testcase>`
  return `${open}>\n      <failure message="${verdict}" type="${verdict}">${details}</failure>${output}\n    </testcase>`
}

function offerCase(offer: OfferChange): string {
  const open = `    <testcase classname="offers" name="${xml(`${offer.kind} ${offer.name}`)}" time="0"`
  if (isNote(offer)) return `${open}/>`
  const text = xml(describeOffer(offer))
  return `${open}>\n      <failure message="${offer.impact}" type="${offer.impact}">${text}</failure>\n    </testcase>`
}
