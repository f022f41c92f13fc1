import type { CompiledPath } from '../json-path/index.js'
import { entryKinds, isMessageKind, type EntryKind } from '../model/index.js'
import { decodeString, kindAt } from '../wire/index.js'
import type { Condition, Literal, Operator, PathTest } from './condition.js'
import { nameFields, numberFields } from './fields.js'
import type { FilterFlag, FilterSubject } from './subject.js'
import { compileTextTest, matchesJson } from './text-match.js'

type Test = (subject: FilterSubject) => boolean

/** Conditions of this cost or more read the text of a message. */
export const payloadCost = 2

/** Cost of a condition; costlier ones are evaluated later. */
export function costOf(condition: Condition): number {
  switch (condition.kind) {
    case 'all':
    case 'any':
      return Math.max(0, ...condition.of.map(costOf))
    case 'not':
      return costOf(condition.of)
    case 'name':
      return 1
    case 'text':
    case 'word':
      return condition.test.how === 'pattern' ? payloadCost + 2 : payloadCost
    case 'path':
      return condition.path.steps ? payloadCost + 1 : payloadCost + 3
    default:
      return 0
  }
}

/** The predicate may throw BudgetSpent. */
export function compileCondition(condition: Condition): Test {
  switch (condition.kind) {
    case 'all': {
      const tests = cheapestFirst(condition.of)
      return (subject) => tests.every((test) => test(subject))
    }
    case 'any': {
      const tests = cheapestFirst(condition.of)
      return (subject) => tests.some((test) => test(subject))
    }
    case 'not': {
      const test = compileCondition(condition.of)
      return (subject) => !test(subject)
    }
    case 'flag':
      return compileFlag(condition.flag)
    case 'direction':
      return ({ direction }) => direction === condition.direction
    case 'transport':
      return ({ transport }) => transport === condition.transport
    case 'status':
      return ({ status }) => status === condition.status
    case 'number': {
      const { field, operator, value } = condition
      return (subject) => {
        const number = numberFields[field].of(subject)
        return number !== null && compare(number, operator, value)
      }
    }
    case 'name': {
      const match = compileTextTest(condition.test)
      const field = nameFields[condition.field]
      if ('isList' in field) return (subject) => field.of(subject)?.split(', ').some(match) ?? false
      return (subject) => {
        const name = field.of(subject)
        return name !== null && match(name)
      }
    }
    case 'finding': {
      const match = compileTextTest(condition.test)
      return ({ findings }) =>
        findings.some(({ rule: { id } }) => match(id) || match(id.slice(0, id.indexOf('/'))))
    }
    case 'level':
      return ({ findings }) => findings.some(({ level }) => level === condition.level)
    case 'id':
      return ({ id }) => id !== null && isId(id, condition.id)
    case 'text': {
      const match = compileTextTest(condition.test)
      return (subject) => {
        const raw = subject.raw()
        return raw !== null && matchesJson(match, raw)
      }
    }
    case 'word': {
      const match = compileTextTest(condition.test)
      return (subject) => {
        if (match(subject.method ?? '') || match(subject.name ?? '')) return true
        const raw = subject.raw()
        return raw !== null && matchesJson(match, raw)
      }
    }
    case 'path':
      return compilePathTest(condition.path, condition.test)
  }
}

function cheapestFirst(conditions: readonly Condition[]): Test[] {
  return conditions.toSorted((a, b) => costOf(a) - costOf(b)).map(compileCondition)
}

function compileFlag(flag: FilterFlag): Test {
  switch (flag) {
    case 'answer':
      return ({ kind }) => kind === 'result' || kind === 'error'
    default:
      return isKind(flag) ? ({ kind }) => kind === flag : (subject) => subject.is(flag)
  }
}

function isKind(flag: Exclude<FilterFlag, 'answer'>): flag is Exclude<EntryKind, 'error'> {
  return flag !== 'error' && (entryKinds as readonly string[]).includes(flag)
}

/** `7` matches the number and the string; `"7"`, with quotes, only the string. */
function isId(exact: string, wanted: string): boolean {
  if (exact === wanted) return true
  return exact.startsWith('"') && decodeString(exact, 0, exact.length) === wanted
}

function compare(left: number | string, operator: Operator, right: number | string): boolean {
  switch (operator) {
    case '=':
      return left === right
    case '!=':
      return left !== right
    case '<':
      return left < right
    case '<=':
      return left <= right
    case '>':
      return left > right
    case '>=':
      return left >= right
  }
}

/** Matches if one of the path's values does. */
function compilePathTest(path: CompiledPath, test: PathTest): Test {
  const matches = compileValueTest(test)
  return (subject) => {
    if (!isMessage(subject)) return false
    const raw = subject.raw()
    if (raw === null) return false
    return path.find(raw, { start: 0, end: raw.length }).some(({ start, end }) => matches(raw, start, end))
  }
}

function isMessage({ kind }: FilterSubject): boolean {
  return kind !== 'note' && isMessageKind(kind)
}

type ValueTest = (json: string, start: number, end: number) => boolean

function compileValueTest(test: PathTest): ValueTest {
  if (test.how === 'exists') return () => true
  if (test.how === 'text') {
    const match = compileTextTest(test.test)
    return (json, start, end) => {
      // An object or array is matched by its exact text.
      if (kindAt(json, start) === 'string') return match(decodeString(json, start, end))
      return matchesJson(match, json.slice(start, end))
    }
  }
  const { operator, value } = test
  return (json, start, end) => {
    const other = scalarAt(json, start, end)
    if (other === undefined) return operator === '!='
    if (typeof other === 'number' && typeof value === 'number') return compare(other, operator, value)
    if (typeof other === 'string' && typeof value === 'string') return compare(other, operator, value)
    if (operator === '=') return other === value
    return operator === '!=' && other !== value
  }
}

/** Undefined for an object or array. */
function scalarAt(json: string, start: number, end: number): Literal | undefined {
  switch (kindAt(json, start)) {
    case 'string':
      return decodeString(json, start, end)
    case 'number':
      return Number(json.slice(start, end))
    case 'boolean':
      return json.charCodeAt(start) === 0x74
    case 'null':
      return null
    default:
      return undefined
  }
}
