import { compilePath, compilePattern, QueryFault } from '../json-path/index.js'
import type { Condition, Literal, Operator, PathTest, TextTest } from './condition.js'
import { FilterProblem } from './fault.js'
import { filterKeys, findKey, flagWords, type FilterKey, type ValueRule, valueWords } from './keys.js'
import { nearestTo } from './nearest.js'
import type { Piece, Scanner } from './scanner.js'
import type { FilterFlag } from './subject.js'
import { parseAmount, parseMoment } from './units.js'

const flagsByName: ReadonlyMap<string, FilterFlag> = new Map(
  [...flagWords.keys()].map((flag) => [flag, flag]),
)

/** Parses one condition: a key with its value, or a free word. Throws FilterProblem. */
export function readTerm(scanner: Scanner, nowMs: number): Condition {
  const { text, at: start } = scanner
  if (scanner.peek() === '~') return { kind: 'word', test: readTextTest(scanner, 'a word or ~/pattern/') }
  if (/^\$[.[]/.test(text.slice(start, start + 2))) return readPath(scanner)
  const [, name = '', sign = ''] =
    /^([A-Za-z][\w-]*)(:|~|=|!=|[<>])/.exec(text.slice(start, start + 80)) ?? []
  const key = findKey(name.toLowerCase())
  if (key && sign !== '') {
    scanner.at += name.length
    scanner.take(':')
    return readValue(scanner, key, nowMs)
  }
  if (sign === ':') throw unknownKey(start, name)
  const quote = scanner.peek()
  if (quote === '"' || quote === "'") return free(scanner.quoted(quote))
  return free(scanner.word(() => false))
}

function free({ text }: Piece): Condition {
  return { kind: 'word', test: { how: 'contains', text } }
}

function unknownKey(start: number, name: string): FilterProblem {
  const names = filterKeys.flatMap((key) => [key.name, ...(key.aliases ?? [])])
  const near = nearestTo(name.toLowerCase(), names)
  const advice =
    near === undefined
      ? `put text with a colon in quotes, or use one of ${filterKeys.map((key) => key.name).join(', ')}`
      : `did you mean ${near}?`
  return new FilterProblem(start, start + name.length, `unknown key ${name}: ${advice}`)
}

function readValue(scanner: Scanner, key: FilterKey, nowMs: number): Condition {
  const { value } = key
  switch (value.kind) {
    case 'name':
      return readName(scanner, value)
    case 'number':
      return readNumber(scanner, key.name, value)
    case 'time':
      return readTime(scanner, value.side, nowMs)
    case 'direction':
      return { kind: 'direction', direction: readWord(scanner, valueWords.direction, ['in', 'out']) }
    case 'transport':
      return { kind: 'transport', transport: readWord(scanner, valueWords.transport) }
    case 'flag':
      return { kind: 'flag', flag: readWord(scanner, flagsByName) }
    case 'status':
      if (/[\d<>=!]/.test(scanner.peek()))
        return readNumber(scanner, key.name, { field: 'httpStatus', unit: 'integer', example: '404' })
      return { kind: 'status', status: readWord(scanner, valueWords.status) }
    case 'id': {
      scanner.take('=')
      const { text: id } = readSome(scanner, 'an id, such as 7')
      return { kind: 'id', id }
    }
    case 'finding':
      return readFinding(scanner)
    case 'level':
      return { kind: 'level', level: readWord(scanner, valueWords.level) }
    case 'text':
      return { kind: 'text', test: { ...readTextTest(scanner, 'a word or a "text in quotes"') } }
    case 'path':
      return readPath(scanner)
  }
}

function readFinding(scanner: Scanner): Condition {
  const expected = 'the id of a rule, a pack or *, such as safety/hidden-text'
  if (scanner.peek() === '~') return { kind: 'finding', test: readTextTest(scanner, expected) }
  scanner.take('=')
  const { text, quoted } = readSome(scanner, expected)
  return { kind: 'finding', test: { how: !quoted && text.includes('*') ? 'glob' : 'exact', text } }
}

function readName(scanner: Scanner, { field, example }: Extract<ValueRule, { kind: 'name' }>): Condition {
  const expected = `a name, such as ${example}`
  const negated = scanner.take('!=')
  if (!negated && scanner.peek() === '~')
    return { kind: 'name', field, test: readTextTest(scanner, expected) }
  if (!negated) scanner.take('=')
  const { text, quoted } = readSome(scanner, expected)
  const how = !quoted && text.includes('*') ? 'glob' : 'exact'
  const condition: Condition = { kind: 'name', field, test: { how, text } }
  return negated ? { kind: 'not', of: condition } : condition
}

/** `~/pattern/`, `~/pattern/i`, `~word`, `~"text"`, or a word or text without the `~`. */
function readTextTest(scanner: Scanner, expected: string): TextTest {
  const start = scanner.at
  if (!scanner.take('~') || !scanner.take('/'))
    return { how: 'contains', text: readSome(scanner, expected).text }
  const { text, end } = scanner.pattern(start)
  const { text: flags } = scanner.word(() => false)
  if (flags !== '' && flags !== 'i')
    throw new FilterProblem(end, scanner.at, `only i may follow a pattern, not ${flags}`)
  const ignoreCase = flags === 'i'
  if (text === '') throw new FilterProblem(start, end, 'the pattern is empty: expected ~/something/')
  try {
    compilePattern(text, ignoreCase)
  } catch (problem) {
    if (!(problem instanceof QueryFault)) throw problem
    const column = start + 1 + (problem.column ?? 1)
    throw new FilterProblem(
      problem.column === undefined ? start : Math.min(column, end - 1),
      problem.column === undefined ? end : Math.min(column + 1, end),
      `the pattern ${problem.message}: ${problem.advice}`,
    )
  }
  return { how: 'pattern', text, ...(ignoreCase && { ignoreCase }) }
}

function readNumber(
  scanner: Scanner,
  name: string,
  { field, unit, example, compared = false }: Omit<Extract<ValueRule, { kind: 'number' }>, 'kind'>,
): Condition {
  const expected = { integer: 'a number', none: 'a number', duration: 'a duration', size: 'a size' }[unit]
  const amount = ({ text, start, end }: Piece): number => {
    const value = parseAmount(text, unit)
    if (value === undefined) {
      const what = text === '' ? `expected ${expected}` : `${text} is not ${expected}`
      throw new FilterProblem(start, end, `${what}, such as ${name}:${example}`)
    }
    return value
  }
  const start = scanner.at
  const operator = readOperator(scanner)
  const piece = scanner.word(() => false)
  const range = operator === undefined ? piece.text.indexOf('..') : -1
  if (range >= 0) {
    const middle = piece.start + range
    const low = { ...piece, end: middle, text: piece.text.slice(0, range) }
    const high = { ...piece, start: middle + 2, text: piece.text.slice(range + 2) }
    const side = (of: Piece, operator: Operator): Condition => ({
      kind: 'number',
      field,
      operator,
      value: amount(of),
      shown: of.text,
    })
    return { kind: 'all', of: [side(low, '>='), side(high, '<=')] }
  }
  const value = amount(piece)
  if (operator === undefined && compared)
    throw new FilterProblem(start, piece.end, `expected a comparison, such as ${name}:>${piece.text}`)
  return { kind: 'number', field, operator: operator ?? '=', value, shown: piece.text }
}

function readTime(scanner: Scanner, operator: '>=' | '<', nowMs: number): Condition {
  const { text, start, end } = readSome(scanner, 'a time: 10m, 2026-08-01 or 2026-08-01T10:00')
  const value = parseMoment(text, nowMs)
  if (value === undefined)
    throw new FilterProblem(start, end, `${text} is not a time: write 10m, 2026-08-01 or 2026-08-01T10:00`)
  return { kind: 'number', field: 'timeMs', operator, value, shown: text }
}

function readPath(scanner: Scanner): Condition {
  const { text, start, end } = scanner.path()
  if (text === '')
    throw new FilterProblem(start, start + 1, 'expected a JSONPath, such as $.params.arguments.query')
  try {
    const path = compilePath(text)
    return { kind: 'path', path, test: readPathTest(scanner) }
  } catch (problem) {
    if (!(problem instanceof QueryFault)) throw problem
    const at = problem.column === undefined ? start : Math.min(start + problem.column - 1, end)
    throw new FilterProblem(
      at,
      problem.column === undefined ? end : at + 1,
      `the path ${problem.message}: ${problem.advice}`,
    )
  }
}

function readPathTest(scanner: Scanner): PathTest {
  if (scanner.atEnd()) return { how: 'exists' }
  if (scanner.peek() === '~')
    return { how: 'text', test: readTextTest(scanner, 'a word or a pattern after ~') }
  const start = scanner.at
  const operator = readOperator(scanner)
  if (operator === undefined)
    throw new FilterProblem(start, start + 1, 'expected ~, =, !=, <, > or a space after the path')
  const piece = readSome(scanner, 'a value to compare with')
  const value = piece.quoted ? piece.text : literalOf(piece.text)
  const isOrder = operator !== '=' && operator !== '!='
  if (isOrder && typeof value !== 'number' && typeof value !== 'string')
    throw new FilterProblem(piece.start, piece.end, `expected a number or a text after ${operator}`)
  return { how: 'compare', operator, value }
}

/** Parses a number, true, false or null; anything else is a string, with or without quotes. */
function literalOf(text: string): Literal {
  if (text === 'true') return true
  if (text === 'false') return false
  if (text === 'null') return null
  return /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : text
}

function readOperator(scanner: Scanner): Operator | undefined {
  for (const operator of ['>=', '<=', '!=', '>', '<'] as const) if (scanner.take(operator)) return operator
  return scanner.take('==') || scanner.take('=') ? '=' : undefined
}

function readWord<T>(scanner: Scanner, words: ReadonlyMap<string, T>, shown = [...words.keys()]): T {
  scanner.take('=')
  const { text, start, end } = scanner.value()
  const value = words.get(text.toLowerCase())
  if (value !== undefined) return value
  const near = text === '' ? undefined : nearestTo(text.toLowerCase(), words.keys())
  const what = text === '' ? '' : `unknown value ${text}: `
  throw new FilterProblem(
    start,
    end,
    near === undefined
      ? `${what}expected one of ${shown.join(', ')}`
      : `unknown value ${text}: did you mean ${near}?`,
  )
}

function readSome(scanner: Scanner, expected: string): Piece {
  const piece = scanner.value()
  if (piece.text === '') throw new FilterProblem(piece.start, piece.end, `expected ${expected}`)
  return piece
}
