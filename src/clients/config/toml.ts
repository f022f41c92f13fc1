import { type AST, getStaticTOMLValue, ParseError, parseTOML } from 'toml-eslint-parser'
import type { ConfigItem, ConfigMember, ConfigNode, ParsedConfig } from './tree.js'

/**
 * TOML. A table's own members are between its header and the next one, so the node of `[a.b]` covers that text;
 * subtables (`[a.b.c]`) are its members, with their own place.
 */
export function parseTomlConfig(text: string): ParsedConfig {
  try {
    const program = parseTOML(text, { tomlVersion: '1.1' })
    return { root: rootOf(program.body[0], text) }
  } catch (error) {
    if (!(error instanceof ParseError)) throw error
    return { fault: { reason: error.message, line: error.lineNumber, column: error.column + 1 } }
  }
}

interface Table {
  start: number
  end: number
  readonly members: Map<string, Slot[]>
  readonly list?: Table[]
}
interface Slot {
  readonly keyStart: number
  readonly keyEnd: number
  readonly value: ConfigNode | Table
}

function rootOf(top: AST.TOMLTopLevelTable, text: string): ConfigNode {
  const root: Table = { start: 0, end: text.length, members: new Map() }
  for (const part of top.body) {
    if (part.type === 'TOMLKeyValue') {
      addPair(root, part, text)
      continue
    }
    const path = part.key.keys
    const table = openTable(root, path.map(nameOf), part)
    table.start = part.range[0]
    table.end = part.range[1]
    for (const pair of part.body) addPair(table, pair, text)
  }
  return toMap(root, false)
}

/** The table of a header; parent tables without a header are created. */
function openTable(root: Table, names: readonly string[], part: AST.TOMLTable): Table {
  let table = root
  for (const [i, name] of names.entries()) {
    const key = part.key.keys[i]!
    const isArray = part.kind === 'array' && i === names.length - 1
    const known = table.members.get(name)?.findLast(({ value }) => 'members' in value && !('kind' in value))
    let next = known?.value as Table | undefined
    if (!next) {
      next = {
        start: part.range[0],
        end: part.range[1],
        members: new Map(),
        ...(isArray && { list: [] }),
      }
      add(table, name, { keyStart: key.range[0], keyEnd: key.range[1], value: next })
    }
    if (next.list) {
      if (isArray) next.list.push({ start: part.range[0], end: part.range[1], members: new Map() })
      next = next.list.at(-1)!
    }
    table = next
  }
  return table
}

function add(table: Table, name: string, slot: Slot): void {
  const slots = table.members.get(name)
  if (slots) slots.push(slot)
  else table.members.set(name, [slot])
}

function addPair(table: Table, pair: AST.TOMLKeyValue, text: string): void {
  const keys = pair.key.keys
  let inner = table
  // `a.b = 1` defines a dotted table.
  for (const key of keys.slice(0, -1)) {
    const known = inner.members.get(nameOf(key))?.at(-1)?.value
    if (known && 'members' in known && !('kind' in known)) inner = known
    else {
      const made: Table = { start: pair.range[0], end: pair.range[1], members: new Map() }
      add(inner, nameOf(key), { keyStart: key.range[0], keyEnd: key.range[1], value: made })
      inner = made
    }
  }
  const last = keys.at(-1)!
  add(inner, nameOf(last), {
    keyStart: pair.range[0],
    keyEnd: last.range[1],
    value: toNode(pair.value, text),
  })
}

function nameOf(key: AST.TOMLBare | AST.TOMLQuoted): string {
  return key.type === 'TOMLBare' ? key.name : key.value
}

function toNode(node: AST.TOMLContentNode, text: string): ConfigNode {
  const [start, end] = node.range
  const base = { start, end, members: [], items: [], flow: true }
  if (node.type === 'TOMLArray') {
    const items: ConfigItem[] = node.elements.map((element) => ({
      start: element.range[0],
      value: toNode(element, text),
    }))
    return { ...base, kind: 'list', value: items.map(({ value }) => value.value), items }
  }
  if (node.type === 'TOMLInlineTable') {
    const table: Table = { start, end, members: new Map() }
    for (const pair of node.body) addPair(table, pair, text)
    return toMap(table, true)
  }
  const isWord = node.kind === 'string' && !node.multiline
  return { ...base, kind: isWord ? 'string' : 'other', value: getStaticTOMLValue(node) }
}

function toMap(table: Table, flow: boolean): ConfigNode {
  if (table.list) {
    const items = table.list.map((each) => ({ start: each.start, value: toMap(each, false) }))
    const value = items.map((item) => item.value.value)
    return { kind: 'list', start: table.start, end: table.end, value, members: [], items, flow: false }
  }
  const members: ConfigMember[] = [...table.members].flatMap(([key, slots]) =>
    slots.map(({ keyStart, keyEnd, value }) => ({
      key,
      keyStart,
      keyEnd,
      value: 'kind' in value ? value : toMap(value, false),
    })),
  )
  members.sort((a, b) => a.keyStart - b.keyStart)
  const value = Object.fromEntries(members.map((member) => [member.key, member.value.value]))
  return { kind: 'map', start: table.start, end: table.end, value, members, items: [], flow }
}
