import { jsonIn } from '../../wire/index.js'
import type { ExchangeComparison } from '../comparison.js'
import { toJsonPath, toPointer } from '../json-place.js'
import type { ComparisonReport } from './report.js'

/** The report as one JSON document (docs/diff.md, docs/schemas/diff.schema.json), with exact text of values. */
export function* jsonReport(report: ComparisonReport): Generator<string, void, undefined> {
  const { before, after, summary, exchanges } = report
  yield `${JSON.stringify({ version: 1, before, after, ...summary }, null, 2).slice(0, -2)},\n  "exchanges": [`
  for (const [i, exchange] of exchanges.entries())
    yield `${i === 0 ? '' : ','}\n    ${exchangeText(exchange)}`
  yield `${exchanges.length > 0 ? '\n  ' : ''}]\n}\n`
}

function exchangeText(exchange: ExchangeComparison): string {
  const { params, differences, ...rest } = exchange
  const members = Object.entries(rest).map(([name, value]) => member(name, JSON.stringify(value)))
  if (params !== undefined) members.push(valueMember('params', params))
  const listed = differences.map(({ kind, place, oldPlace, before, after }) => {
    const parts = [member('kind', JSON.stringify(kind)), member('path', JSON.stringify(toJsonPath(place)))]
    parts.push(member('pointer', JSON.stringify(toPointer(place))))
    if (oldPlace) parts.push(member('oldPointer', JSON.stringify(toPointer(oldPlace))))
    if (before !== undefined) parts.push(valueMember('before', before))
    if (after !== undefined) parts.push(valueMember('after', after))
    return `{${parts.join(', ')}}`
  })
  members.push(member('differences', `[${listed.join(', ')}]`))
  return `{${members.join(', ')}}`
}

function member(name: string, text: string): string {
  return `${JSON.stringify(name)}: ${text}`
}

/** A truncated value is not JSON: it is written as a string, under another name. */
function valueMember(name: string, text: string): string {
  return jsonIn(text) === undefined ? member(`${name}Cut`, JSON.stringify(text)) : member(name, text)
}
