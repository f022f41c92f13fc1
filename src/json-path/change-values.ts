import { kindAt, membersOf, skipWhiteSpace, type Span, type TextEdit } from '../wire/index.js'
import { followSteps, mostNodes, type CompiledPath } from './compile-path.js'
import { readTree, type JsonNode } from './json-tree.js'
import { WorkBudget } from './work-budget.js'

/**
 * The edits that remove values from the checked JSON value at `root`, with their names and one comma each.
 * Undefined when one of them is the root itself.
 *
 * @param values places found by a path
 * @throws BudgetSpent for a value with too many parts
 */
export function removeValues(text: string, root: Span, values: readonly Span[]): TextEdit[] | undefined {
  const gone = new Set(values.map(({ start }) => start))
  if (gone.has(root.start)) return undefined
  const edits: TextEdit[] = []
  const open = [readTree(text, root.start, new WorkBudget(mostNodes))]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const { children } = node
    if (children.length === 0) continue
    const isGone = children.map(({ start }) => gone.has(start))
    if (isGone.includes(true)) removeChildren(text, node, isGone, edits)
    for (const [i, child] of children.entries()) if (!isGone[i] && child.children.length > 0) open.push(child)
  }
  return edits.toSorted((a, b) => a.start - b.start)
}

/** One edit for each run of adjacent children. */
function removeChildren(
  text: string,
  { start, end, kind, children }: JsonNode,
  isGone: boolean[],
  edits: TextEdit[],
): void {
  const startOf = (i: number): number => {
    if (kind === 'array') return children[i]!.start
    if (i === 0) return skipWhiteSpace(text, start + 1)
    return skipWhiteSpace(text, skipWhiteSpace(text, children[i - 1]!.end) + 1)
  }
  if (!isGone.includes(false)) {
    edits.push({ start: start + 1, end: end - 1, text: '' })
    return
  }
  for (let i = 0; i < children.length; i += 1) {
    if (!isGone[i]) continue
    const first = i
    while (isGone[i + 1]) i += 1
    // Together with the preceding comma; for the first child, the following one.
    if (first === 0) edits.push({ start: startOf(0), end: startOf(i + 1), text: '' })
    else edits.push({ start: children[first - 1]!.end, end: children[i]!.end, text: '' })
  }
}

/**
 * The edit that appends the last member named by a path to its object, in the checked JSON value at `root`.
 * Undefined unless the path names one place in one existing object.
 */
export function addMember(
  text: string,
  root: Span,
  { steps }: CompiledPath,
  value: string,
): TextEdit | undefined {
  const name = steps?.at(-1)
  if (steps === undefined || typeof name !== 'string') return undefined
  const [parent, another] = followSteps(steps.slice(0, -1), text, root)
  if (parent === undefined || another !== undefined || kindAt(text, parent.start) !== 'object')
    return undefined
  const last = membersOf(text, parent.start).at(-1)
  const at = last?.end ?? parent.start + 1
  return { start: at, end: at, text: `${last ? ',' : ''}${JSON.stringify(name)}:${value}` }
}
