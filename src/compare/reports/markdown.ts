import { countOf, markdownCode } from '../../render/index.js'
import type { LatencyNumbers } from '../latency.js'
import { describeOffer, describeVaried, detailsOf, titleOf } from '../describe.js'
import { verdicts } from '../verdict.js'
import type { ComparisonReport } from './report.js'

/** The report as Markdown, for display in a browser, such as in the summary of a CI job. */
export function* markdownReport(report: ComparisonReport): Generator<string, void, undefined> {
  yield linesOf(report).join('\n')
}

function linesOf(report: ComparisonReport): string[] {
  const { exchanges, summary } = report
  const lines = [`# ${line(report.before)} → ${line(report.after)}`, '', headline(report), '']
  if (summary.stopped !== undefined) lines.push(`Stopped: ${line(summary.stopped)}`, '')
  for (const note of summary.notes ?? []) lines.push(`Note: ${line(note)}`, '')
  const different = exchanges.filter(({ verdict }) => verdict !== 'same')
  if (different.length > 0) {
    lines.push('| verdict | request | # | details |', '|---|---|---|---|')
    for (const exchange of different) {
      const what = detailsOf(exchange).slice(0, 10).map(cell).join('<br>')
      const numbers = [exchange.before?.seq, exchange.after?.seq]
        .filter((seq) => seq !== undefined)
        .join(' → ')
      const which = [
        exchange.call ? cell(`${exchange.call.file}:${exchange.call.line}`) : numbers,
        exchange.run === undefined ? '' : `run ${exchange.run}`,
      ]
        .filter(Boolean)
        .join(', ')
      lines.push(`| ${exchange.verdict} | ${cell(titleOf(exchange))} | ${which} | ${what} |`)
    }
    lines.push('')
  }
  lines.push(...variedLines(exchanges))
  if (summary.offers.length > 0) {
    lines.push('## Changed definitions', '', '| impact | change |', '|---|---|')
    for (const offer of summary.offers) lines.push(`| ${offer.impact} | ${cell(describeOffer(offer))} |`)
    lines.push('')
  }
  if (summary.latency.length > 0) {
    lines.push(
      '## Latency',
      '',
      '| request | p50 before | p50 after | p95 before | p95 after |',
      '|---|--:|--:|--:|--:|',
    )
    for (const row of summary.latency) {
      const { before, after } = row
      const cells = [ms(before, 'p50Us'), ms(after, 'p50Us'), ms(before, 'p95Us'), ms(after, 'p95Us')]
      lines.push(`| ${cell(titleOf(row))} | ${cells.join(' | ')} |`)
    }
    lines.push('')
  }
  return lines
}

const mostVaried = 50

/** Generated values that differed without counting. */
function variedLines(exchanges: ComparisonReport['exchanges']): string[] {
  const rows = exchanges.flatMap((exchange) =>
    (exchange.varied ?? []).map(
      (varied) => `| ${cell(titleOf(exchange))} | ${cell(describeVaried(varied))} |`,
    ),
  )
  if (rows.length === 0) return []
  const more = rows.length > mostVaried ? ['', `and ${rows.length - mostVaried} more`] : []
  const head = ['## Varies between runs, not a difference', '', '| request | value |', '|---|---|']
  return [...head, ...rows.slice(0, mostVaried), ...more, '']
}

/** `**Different**: 12 same, 1 changed` */
function headline({ summary }: ComparisonReport): string {
  const counted = verdicts.filter((verdict) => summary.counts[verdict] > 0)
  const parts = counted.map((verdict) => `${summary.counts[verdict]} ${verdict}`)
  if (summary.offers.length > 0) parts.push(countOf(summary.offers.length, 'changed definition'))
  return `**${summary.same ? 'Same' : 'Different'}**: ${parts.join(', ') || 'no requests'}`
}

function ms(numbers: LatencyNumbers | undefined, key: 'p50Us' | 'p95Us'): string {
  return numbers ? `${(numbers[key] / 1000).toFixed(1)} ms` : '–'
}

function cell(text: string): string {
  return markdownCode(onOneLine(text), 'cell')
}

function line(text: string): string {
  return markdownCode(onOneLine(text), 'line')
}

function onOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ')
}
