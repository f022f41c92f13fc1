import type { Expected } from './expected.js'
import type { Argument } from './plan.js'

/** Syntax of values in a language. */
export interface Dialect {
  readonly none: string
  readonly yes: string
  readonly no: string
  /** Space between the braces of a map and its members. */
  readonly brace: '' | ' '
  text(text: string): string
  /** `name: value` */
  entry(name: string, value: string): string
  variable(name: string): string
  secret(name: string): string
  /** An expression for a member or an element of another expression. */
  member(of: string, step: string | number): string
  /** An expected value that matches many; undefined where the language has none, and `check` is used. */
  pattern?(source: string): string
  any?(type: string): string
  /** A separate statement that checks a value against a pattern or a type. */
  check(actual: string, expected: Extract<Expected, { kind: 'pattern' | 'any' }>): string
}

const width = 100

/** An argument as source text. */
export function printArgument(argument: Argument, dialect: Dialect, indent: string): string {
  switch (argument.kind) {
    case 'value':
      return printScalar(argument.value, dialect)
    case 'variable':
      return dialect.variable(argument.name)
    case 'secret':
      return dialect.secret(argument.name)
    case 'list':
      return printList(argument.items, indent, (item, inner) => printArgument(item, dialect, inner))
    case 'map':
      return printMap(argument.members, dialect, indent, (item, inner) => printArgument(item, dialect, inner))
  }
}

/**
 * An expected value as source text. Where the language has no expression for varying values, the actual value is used
 * there and `checks` gets a statement.
 */
export function printExpected(
  expected: Expected,
  actual: string,
  dialect: Dialect,
  checks: string[],
  indent: string,
): string {
  switch (expected.kind) {
    case 'value':
      return printScalar(expected.value, dialect)
    case 'list':
      return printList(expected.items, indent, (item, inner, i) =>
        printExpected(item, dialect.member(actual, i), dialect, checks, inner),
      )
    case 'map':
      return printMap(expected.members, dialect, indent, (item, inner, name) =>
        printExpected(item, dialect.member(actual, name), dialect, checks, inner),
      )
    case 'pattern':
      if (dialect.pattern) return dialect.pattern(expected.source)
      break
    case 'any':
      if (dialect.any && expected.type !== 'null') return dialect.any(expected.type)
      break
  }
  checks.push(dialect.check(actual, expected))
  return actual
}

function printScalar(value: null | boolean | number | string, dialect: Dialect): string {
  if (value === null) return dialect.none
  if (typeof value === 'boolean') return value ? dialect.yes : dialect.no
  if (typeof value === 'string') return dialect.text(value)
  // Neither language has a literal for JSON numbers beyond the range of a double.
  return Number.isFinite(value) ? String(value) : value > 0 ? '1e999' : '-1e999'
}

function printList<T>(
  items: readonly T[],
  indent: string,
  print: (item: T, indent: string, index: number) => string,
): string {
  const printed = items.map((item, i) => print(item, `${indent}  `, i))
  return bracketed('[', ']', '', printed, indent)
}

function printMap<T>(
  members: readonly (readonly [name: string, item: T])[],
  dialect: Dialect,
  indent: string,
  print: (item: T, indent: string, name: string) => string,
): string {
  const printed = members.map(([name, item]) => dialect.entry(name, print(item, `${indent}  `, name)))
  return bracketed('{', '}', dialect.brace, printed, indent)
}

function bracketed(
  open: string,
  close: string,
  space: string,
  items: readonly string[],
  indent: string,
): string {
  if (items.length === 0) return open + close
  const line = `${open}${space}${items.join(', ')}${space}${close}`
  if (line.length + indent.length <= width && !line.includes('\n')) return line
  return `${open}\n${items.map((item) => `${indent}  ${item},\n`).join('')}${indent}${close}`
}

/** A single-quoted JavaScript string; texts with single quotes keep double quotes. */
export function quoted(text: string): string {
  const json = JSON.stringify(text)
    .replaceAll('\u2028', String.raw`\u2028`)
    .replaceAll('\u2029', String.raw`\u2029`)
  return text.includes("'") ? json : `'${json.slice(1, -1).replaceAll(String.raw`\"`, '"')}'`
}
