import {
  createVariedCounts,
  matchRule,
  suggestMatcher,
  toJsonPath,
  toPointer,
  type ComparisonReport,
  type ExchangeComparison,
} from '../compare/index.js'

/** A place in responses whose value differs in each run. */
export interface LearnedRule {
  readonly method: string
  readonly name?: string
  /** JSONPath from the root of the response. */
  readonly path: string
  /** How the values are alike; undefined when they are not, and comparisons ignore the place. */
  readonly matcher?: string
  /** Two of the values, as JSON text. */
  readonly example: readonly [string, string]
}

/** Findings from several replays of one recording. */
export interface Learned {
  readonly varies: readonly LearnedRule[]
  /** Exchanges that differ from the recording in the same way in every run: the server was changed. */
  readonly changed: readonly ExchangeComparison[]
  /** Exchanges with different verdicts in different runs, such as a call that fails at times. */
  readonly unsteady: readonly ExchangeComparison[]
}

interface Seen {
  readonly exchange: ExchangeComparison
  readonly verdicts: Set<string>
  runs: number
  /** Values by place and run: `before` first. */
  readonly places: Map<string, { readonly values: string[]; count: number; before: string | undefined }>
  hasMore: boolean
}

const mostExchanges = 10_000
/** Most elements of one array that get a place each; with more, one place stands for all elements. */
const mostElements = 3

/** Separates values that vary between runs from changes. */
export class Learner {
  readonly #seen = new Map<string, Seen>()

  take(exchange: ExchangeComparison): void {
    const number = exchange.before?.seq ?? exchange.after?.seq
    const key = `${exchange.direction} ${number} ${exchange.before ? '' : (exchange.params ?? '')}`
    let seen = this.#seen.get(key)
    if (!seen) {
      if (this.#seen.size >= mostExchanges) return
      seen = { exchange, verdicts: new Set(), runs: 0, places: new Map(), hasMore: false }
      this.#seen.set(key, seen)
    }
    seen.runs += 1
    seen.verdicts.add(exchange.verdict)
    seen.hasMore ||= exchange.more > 0
    for (const { place, before, after } of exchange.differences) {
      const path = toJsonPath(place)
      const found = seen.places.get(path) ?? { values: [], count: 0, before }
      found.count += 1
      found.values.push(after ?? 'absent')
      seen.places.set(path, found)
    }
  }

  /** @param runs number of replays of the recording */
  finish(runs: number): Learned {
    const varies: LearnedRule[] = []
    const changed: ExchangeComparison[] = []
    const unsteady: ExchangeComparison[] = []
    for (const { exchange, verdicts, places } of this.#seen.values()) {
      if ([...verdicts].every((verdict) => verdict === 'same')) continue
      // An error in one run and a result in another is not a varying value.
      if ([...verdicts].some((verdict) => verdict !== 'same' && verdict !== 'changed')) {
        ;(verdicts.size > 1 ? unsteady : changed).push(exchange)
        continue
      }
      let isChanged = false
      for (const [path, { values, count, before }] of places) {
        if (count === runs && new Set(values).size === 1) isChanged = true
        else varies.push(ruleOf(exchange, path, before, values))
      }
      if (isChanged) changed.push(exchange)
    }
    return { varies: joined(varies), changed, unsteady }
  }
}

/** The report of the runs. Values that vary between runs are listed as such, not as differences. */
export function settledReport(report: ComparisonReport, learned: Learned): ComparisonReport {
  const varies = new Set(learned.varies.map(({ method, name, path }) => `${method}\n${name ?? ''}\n${path}`))
  const counts = { ...report.summary.counts }
  const varied = createVariedCounts()
  const exchanges = report.exchanges.map((exchange) => {
    const settled = settledExchange(exchange, varies)
    counts[exchange.verdict] -= 1
    counts[settled.verdict] += 1
    varied.take(settled)
    return settled
  })
  const same = report.summary.same || learned.changed.length + learned.unsteady.length === 0
  return { ...report, exchanges, summary: { ...report.summary, ...varied.member(), counts, same } }
}

function settledExchange(exchange: ExchangeComparison, varies: ReadonlySet<string>): ExchangeComparison {
  if (exchange.verdict !== 'changed') return exchange
  const isLearned = ({ place }: { place: Parameters<typeof toJsonPath>[0] }): boolean => {
    const path = toJsonPath(place)
    const key = `${exchange.method}\n${exchange.name ?? ''}\n`
    return varies.has(key + path) || varies.has(key + general(path))
  }
  const learned = exchange.differences.filter(isLearned)
  if (learned.length === 0) return exchange
  const left = exchange.differences.filter((difference) => !isLearned(difference))
  const told = learned.map(({ place, before = 'absent', after = 'absent' }) => {
    return { kinds: ['learned'] as const, at: toPointer(place), before, after }
  })
  return {
    ...exchange,
    differences: left,
    varied: [...(exchange.varied ?? []), ...told],
    verdict: left.length === 0 && exchange.more === 0 ? 'same' : 'changed',
  }
}

function ruleOf(
  { method, name }: ExchangeComparison,
  path: string,
  before: string | undefined,
  values: readonly string[],
): LearnedRule {
  const all = [before ?? 'absent', ...values]
  const example = [all[0]!, all.find((value) => value !== all[0]) ?? all[0]!] as const
  return { method, ...(name !== undefined && { name }), path, ...matcherOf(all), example }
}

/** The closest matcher that accepts all values. */
function matcherOf(values: readonly string[]): { matcher?: string } {
  const [first = '', ...others] = values
  if (values.includes('absent')) return {}
  const names = [
    ...new Set(others.map((other) => (other === first ? undefined : suggestMatcher(first, other)))),
  ]
  const [name] = names.filter((one) => one !== undefined)
  const candidates = [...(name === undefined ? [] : [name]), 'number', 'type']
  const fits = (matcher: string): boolean => {
    const { matcher: known } = matchRule('$.result', matcher)
    return known !== undefined && others.every((other) => known.accepts(first, other))
  }
  const matcher = candidates.find(fits)
  return matcher === undefined ? {} : { matcher }
}

/** Merges many elements of one array into one place for all of them. */
function joined(rules: readonly LearnedRule[]): LearnedRule[] {
  const groups = new Map<string, LearnedRule[]>()
  for (const rule of rules) {
    const key = JSON.stringify([rule.method, rule.name, general(rule.path)])
    groups.set(key, [...(groups.get(key) ?? []), rule])
  }
  return [...groups.values()].flatMap((group) => {
    const paths = new Map(group.map((rule) => [rule.path, rule]))
    if (paths.size <= mostElements) return [...paths.values()]
    const matchers = new Set(group.map(({ matcher }) => matcher))
    const { method, name, path, example } = group[0]!
    const [matcher] = matchers
    return [
      {
        method,
        ...(name !== undefined && { name }),
        path: general(path),
        ...(matchers.size === 1 && matcher !== undefined && { matcher }),
        example,
      },
    ]
  })
}

function general(path: string): string {
  return path.replaceAll(/\[\d+\]/g, '[*]')
}
