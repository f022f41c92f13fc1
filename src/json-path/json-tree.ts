import {
  decodeString,
  kindAt,
  skipString,
  skipValue,
  skipWhiteSpace,
  type JsonKind,
  type Span,
} from '../wire/index.js'
import type { WorkBudget } from './work-budget.js'

/** A JSON value in a text: unlike a parsed one, it knows its position and has every duplicate member. */
export interface JsonNode extends Span {
  readonly kind: JsonKind
  end: number
  /** For an object: the decoded name of each child. */
  readonly names: string[]
  readonly children: JsonNode[]
}

const none: never[] = []

/** The tree of the checked value at `start`. Not recursive; each node costs work. Throws BudgetSpent. */
export function readTree(text: string, start: number, work: WorkBudget): JsonNode {
  const open: JsonNode[] = []
  let pos = start
  for (;;) {
    work.spend(1)
    const node = nodeAt(text, pos)
    open.at(-1)?.children.push(node)
    const first = node.end < 0 ? skipWhiteSpace(text, pos + 1) : 0
    const isEmpty = node.end < 0 && text.charCodeAt(first) === text.charCodeAt(pos) + 2
    if (isEmpty) node.end = first + 1
    if (node.end < 0) {
      open.push(node)
      pos = node.kind === 'object' ? readName(text, first, node) : first
      continue
    }
    pos = node.end
    for (;;) {
      const parent = open.at(-1)
      if (parent === undefined) return node
      pos = skipWhiteSpace(text, pos)
      if (text.charCodeAt(pos) === 0x2c) {
        pos = skipWhiteSpace(text, pos + 1)
        if (parent.kind === 'object') pos = readName(text, pos, parent)
        break
      }
      parent.end = ++pos
      open.pop()
      if (open.length === 0) return parent
    }
  }
}

/** Returns the index of the value after the name. */
function readName(text: string, start: number, parent: JsonNode): number {
  const end = skipString(text, start)
  parent.names.push(decodeString(text, start, end))
  return skipWhiteSpace(text, skipWhiteSpace(text, end) + 1)
}

/** The end of a container is not known yet: -1. */
function nodeAt(text: string, start: number): JsonNode {
  const kind = kindAt(text, start)
  if (kind === 'object') return { kind, start, end: -1, names: [], children: [] }
  if (kind === 'array') return { kind, start, end: -1, names: none, children: [] }
  return { kind, start, end: skipValue(text, start), names: none, children: none }
}
