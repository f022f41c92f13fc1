import { decodeString } from '../wire/index.js'
import type { JsonNode } from './json-tree.js'
import type { WorkBudget } from './work-budget.js'

/** A value in a filter; undefined is RFC 9535's Nothing. */
export type PathValue = string | number | boolean | null | JsonNode | undefined

export type Operator = '==' | '!=' | '<' | '<=' | '>' | '>='

/** A node as a value: anything but objects and arrays is decoded. */
export function valueOf(text: string, node: JsonNode, work: WorkBudget): PathValue {
  switch (node.kind) {
    case 'string':
      work.spend((node.end - node.start) >> 3)
      return decodeString(text, node.start, node.end)
    case 'number':
      return Number(text.slice(node.start, node.end))
    case 'boolean':
      return text.charCodeAt(node.start) === 0x74
    case 'null':
      return null
    case 'object':
    case 'array':
      return node
  }
}

export function compareValues(
  text: string,
  left: PathValue,
  operator: Operator,
  right: PathValue,
  work: WorkBudget,
): boolean {
  switch (operator) {
    case '==':
      return areEqual(text, left, right, work)
    case '!=':
      return !areEqual(text, left, right, work)
    case '<':
      return isLess(left, right)
    case '>':
      return isLess(right, left)
    case '<=':
      return isLess(left, right) || areEqual(text, left, right, work)
    case '>=':
      return isLess(right, left) || areEqual(text, left, right, work)
  }
}

function isLess(left: PathValue, right: PathValue): boolean {
  if (typeof left === 'number' && typeof right === 'number') return left < right
  return typeof left === 'string' && typeof right === 'string' && left < right
}

function isNode(value: PathValue): value is JsonNode {
  return typeof value === 'object' && value !== null
}

/** Compares with a list of pending pairs instead of recursion: values may be nested to any depth. */
function areEqual(text: string, left: PathValue, right: PathValue, work: WorkBudget): boolean {
  const pairs: [PathValue, PathValue][] = [[left, right]]
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    work.spend(1)
    const [a, b] = pair
    if (!isNode(a) || !isNode(b)) {
      if (a !== b) return false
      continue
    }
    if (a.kind !== b.kind || a.children.length !== b.children.length) return false
    work.spend(a.children.length)
    const byName = a.kind === 'object' ? new Map(b.names.map((name, i) => [name, b.children[i]])) : undefined
    for (const [i, child] of a.children.entries()) {
      const other = byName === undefined ? b.children[i] : byName.get(a.names[i] ?? '')
      if (other === undefined) return false
      pairs.push([valueOf(text, child, work), valueOf(text, other, work)])
    }
  }
  return true
}
