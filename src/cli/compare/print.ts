import {
  describeOffer,
  describeVaried,
  detailsOf,
  suggestRule,
  titleOf,
  verdicts,
  type ComparisonSummary,
  type ExchangeComparison,
  type LatencyNumbers,
  type Verdict,
} from '../../compare/index.js'
import {
  countOf,
  escapeText,
  formatDuration,
  pad,
  truncate,
  wrapPieces,
  type Style,
} from '../../render/index.js'

const tones: Readonly<Record<Verdict, Exclude<keyof Style, 'plain'>>> = {
  same: 'dim',
  changed: 'yellow',
  'error now': 'red',
  'fixed now': 'green',
  missing: 'red',
  new: 'cyan',
  'timed out': 'red',
  'not sent': 'dim',
}
const verdictWidth = 9
const mostDetails = 12
/** Lines with latencies. */
const mostLatencies = 20

export interface Layout {
  readonly style: Style
  /** Terminal width in cells; undefined for unlimited lines. */
  readonly columns: number | undefined
}

/** One exchange, followed by its differences. Ends with a line feed. */
export function exchangeLines(exchange: ExchangeComparison, { style, columns = Infinity }: Layout): string {
  const { verdict, before, after, run } = exchange
  const numbers = [before?.seq, after?.seq].filter((seq) => seq !== undefined).map((seq) => `#${seq}`)
  const place = exchange.call
    ? escapeText(`${exchange.call.file}:${exchange.call.line}`)
    : [...new Set(numbers)].join(' → ')
  const where = [place, run === undefined ? '' : `run ${run}`].filter(Boolean).join(', ')
  const params = verdict === 'missing' || verdict === 'new' ? shortParams(exchange) : ''
  const head = `${escapeText(titleOf(exchange))}${params}`
  const room = columns - verdictWidth - where.length - 6
  const words = [style[tones[verdict]](pad(verdict, verdictWidth)), truncate(head, room)]
  if (where !== '') words.push(style.dim(where))
  let text = `  ${words.join('  ')}\n`
  const details = detailsOf(exchange)
  for (const detail of details.slice(0, mostDetails)) {
    text += `    ${tinted(truncate(escapeText(detail), columns - 4), style)}\n`
  }
  if (details.length > mostDetails) text += style.dim(`    and ${details.length - mostDetails} more lines\n`)
  return text
}

function tinted(line: string, style: Style): string {
  if (line.startsWith('+ ')) return style.green(line)
  return line.startsWith('- ') ? style.red(line) : line
}

function shortParams({ method, params }: ExchangeComparison): string {
  if (params === undefined || method === 'initialize') return ''
  return ` ${truncate(escapeText(params), 60)}`
}

const impactTones = { breaking: 'red', review: 'yellow', compatible: 'plain', note: 'dim' } as const

/** Changes in the server's offers; empty without any. */
export function offerLines({ offers }: ComparisonSummary, { style, columns = Infinity }: Layout): string {
  if (offers.length === 0) return ''
  const lines = offers.map((offer) => {
    return `  ${style[impactTones[offer.impact]](pad(offer.impact, 10))}  ${truncate(escapeText(describeOffer(offer)), columns - 14)}\n`
  })
  return `\nChanged definitions:\n${lines.join('')}`
}

/** Latencies of tools. Empty if no tool was called. */
export function latencyLines({ latency }: ComparisonSummary, { style, columns = Infinity }: Layout): string {
  const tools = latency.filter(({ method, before, after }) => method === 'tools/call' && (before ?? after))
  if (tools.length === 0) return ''
  const shown = tools.slice(0, mostLatencies)
  const cells = [
    ['calls', 'p50', 'p95'],
    ...shown.map(({ before, after }) => [
      arrow(before?.answers, after?.answers, String),
      arrow(us(before, 'p50Us'), us(after, 'p50Us'), formatDuration),
      arrow(us(before, 'p95Us'), us(after, 'p95Us'), formatDuration),
    ]),
  ]
  const widths = [0, 1, 2].map((i) => Math.max(...cells.map((row) => row[i]!.length)))
  const taken = widths.reduce((sum, width) => sum + width + 2, 2)
  const names = shown.map(({ name }) =>
    truncate(escapeText(name ?? '?'), Math.min(40, Math.max(10, columns - taken))),
  )
  const width = Math.max(4, ...names.map((name) => name.length))
  const [head = '', ...rows] = cells.map((row, i) => {
    const numbers = row.map((cell, column) => pad(cell, widths[column]!, 'left'))
    return `  ${pad(names[i - 1] ?? 'tool', width)}  ${numbers.join('  ')}`
  })
  const more =
    tools.length > shown.length ? style.dim(`  and ${tools.length - shown.length} more tools\n`) : ''
  return `\n${style.dim(head)}\n${rows.map((row) => `${row}\n`).join('')}${more}`
}

function us(numbers: LatencyNumbers | undefined, key: 'p50Us' | 'p95Us'): number | undefined {
  return numbers?.[key]
}

function arrow(
  before: number | undefined,
  after: number | undefined,
  show: (value: number) => string,
): string {
  const text = (value: number | undefined): string => (value === undefined ? '–' : show(value))
  return `${text(before)} → ${text(after)}`
}

const mostVaried = 5

/** Values that vary on their own, which are no differences: count and first ones. */
export function createVariedLines({ style, columns = Infinity }: Layout): {
  take(exchange: ExchangeComparison): void
  lines(summary: ComparisonSummary): string
} {
  const first: string[] = []
  let count = 0
  return {
    take(exchange) {
      for (const varied of exchange.varied ?? []) {
        count += 1
        if (first.length === mostVaried) continue
        const seq = exchange.before?.seq
        first.push(`${titleOf(exchange)}${seq === undefined ? '' : ` #${seq}`}  ${describeVaried(varied)}`)
      }
    },
    lines({ varied }) {
      if (!varied) return ''
      const kinds = Object.entries(varied).map(([kind, number]) => `${number} ${kind}`)
      const lines = first.map((line) => style.dim(`  ${truncate(escapeText(line), columns - 2)}\n`))
      const more = count > first.length ? style.dim(`  and ${count - first.length} more\n`) : ''
      return `\nVaries between runs, not a difference (${kinds.join(', ')}; --exact counts it):\n${lines.join('')}${more}`
    },
  }
}

/** Additional notes. */
export function noteLines({ notes = [] }: ComparisonSummary): string {
  return notes.map((note) => `Note: ${escapeText(note)}\n`).join('')
}

/** `12 same, 1 changed` and what it means. */
export function summaryLine({ counts, offers, same }: ComparisonSummary, { style, columns }: Layout): string {
  const parts = verdicts
    .filter((verdict) => counts[verdict] > 0)
    .map((verdict) => style[tones[verdict]](`${counts[verdict]} ${verdict}`))
  const breaking = offers.filter(({ impact }) => impact === 'breaking').length
  const review = offers.filter(({ impact }) => impact === 'review').length
  const compatible = offers.filter(({ impact }) => impact === 'compatible').length
  if (breaking > 0) parts.push(style.red(countOf(breaking, 'breaking change')))
  if (review > 0) parts.push(style.yellow(`${countOf(review, 'change')} to review`))
  if (compatible > 0) parts.push(countOf(compatible, 'compatible change'))
  if (same && parts.length <= 1) return `${style.green('Same')}: ${countOf(counts.same, 'exchange')}\n`
  const verdict = same ? style.green('Same') : style.bold('Different')
  const [first = 'no requests', ...others] = parts
  return `${wrapPieces([`${verdict}: ${first}`, ...others], ', ', columns)}\n`
}

/** Suggests rules for values that look like times or generated ids. */
export function createSuggestions(): { take(exchange: ExchangeComparison): void; lines(): string } {
  const rules = new Map<string, number>()
  return {
    take({ verdict, differences }) {
      if (verdict !== 'changed') return
      for (const difference of differences) {
        const rule = suggestRule(difference)
        if (rule !== undefined && (rules.has(rule) || rules.size < 100))
          rules.set(rule, (rules.get(rule) ?? 0) + 1)
      }
    },
    lines() {
      const best = [...rules].toSorted(([, a], [, b]) => b - a).slice(0, 3)
      if (best.length === 0) return ''
      return `\nValues that may differ on every run can be matched:\n${best.map(([rule]) => `  ${escapeText(rule)}\n`).join('')}`
    },
  }
}
