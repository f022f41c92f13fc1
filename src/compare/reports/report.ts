import type { ComparisonSummary, ExchangeComparison } from '../comparison.js'

/** A whole comparison, for reports. */
export interface ComparisonReport {
  /** Names of the compared recordings, as given by the user. */
  readonly before: string
  readonly after: string
  /** In order. Beyond `mostDetailed` differing ones, without their differences. */
  readonly exchanges: readonly ExchangeComparison[]
  readonly summary: ComparisonSummary
}

/** Limit of differing exchanges that keep their differences, since payloads would fill the memory. */
const mostDetailed = 1_000
/** Characters kept of one value. */
const longestValue = 10_000

export interface ReportCollector {
  take(exchange: ExchangeComparison): void
  finish(summary: ComparisonSummary): ComparisonReport
}

export function collectReport(names: { readonly before: string; readonly after: string }): ReportCollector {
  const exchanges: ExchangeComparison[] = []
  let detailed = 0
  return {
    take(exchange) {
      if (exchange.verdict !== 'same' || exchange.knownFaults) detailed += 1
      exchanges.push(detailed <= mostDetailed ? small(exchange) : bare(exchange))
    },
    finish: (summary) => ({ ...names, exchanges, summary }),
  }
}

function small(exchange: ExchangeComparison): ExchangeComparison {
  const { params, differences, ...rest } = exchange
  const kept = differences.map(({ before, after, ...difference }) => ({
    ...difference,
    ...(before !== undefined && { before: cut(before) }),
    ...(after !== undefined && { after: cut(after) }),
  }))
  return { ...rest, ...(params !== undefined && { params: cut(params) }), differences: kept }
}

function bare({
  verdict,
  method,
  name,
  direction,
  before,
  after,
  differences,
  more,
  run,
  call,
  notes,
}: ExchangeComparison): ExchangeComparison {
  const sides = {
    ...(before && { before }),
    ...(after && { after }),
    ...(name !== undefined && { name }),
    ...(run !== undefined && { run }),
    ...(call && { call, ...(notes && { notes }) }),
  }
  return {
    verdict,
    method,
    direction,
    ...sides,
    differences: none,
    more: more + differences.length,
    schemaFaults: none,
  }
}

const none: readonly never[] = []

/** A plain slice would keep the whole text in memory. */
function cut(text: string): string {
  return text.length <= longestValue
    ? text
    : `${JSON.parse(JSON.stringify(text.slice(0, longestValue))) as string}…`
}
