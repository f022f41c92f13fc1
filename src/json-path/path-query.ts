/**
 * JSONPath (RFC 9535) over the text of a message. The package's own evaluation works on parsed values, which lack
 * duplicate members, and passes patterns to the JavaScript engine, which can take exponential time; so only its
 * parser is used.
 *
 * A name selects every duplicate, and a node counts once, however many selectors select it.
 */
import type { JsonPathQuery } from 'jsonpath-rfc9535/parser'
import type { JsonNode } from './json-tree.js'
import { compareValues, valueOf, type PathValue } from './path-values.js'
import type { WorkBudget } from './work-budget.js'

export type { JsonPathQuery }
type Segment = JsonPathQuery['segments'][number]
type Selection = Segment['node']
export type Selector = Extract<Selection, { type: 'BracketedSelection' }>['selectors'][number]
type Filter = Extract<Selector, { type: 'FilterSelector' }>['value']
type Test = Extract<Filter, { type: 'TestExpr' }>['expression']
type FilterQuery = Extract<Test, { type: 'FilterQuery' }>['value']
export type FunctionCall = Extract<Test, { type: 'FunctionExpr' }>
type Argument = FunctionCall['arguments'][number]
type Comparable = Extract<Filter, { type: 'ComparisonExpr' }>['left']
type SingularSegment = Extract<Comparable, { type: 'RelSingularQuery' }>['segments'][number]

/** Whether a string matches the pattern of this call of `match` or `search`. */
export type PatternTest = (call: FunctionCall, text: string) => boolean

/** Evaluates queries on one tree. */
export class PathReading {
  readonly #text: string
  readonly #root: JsonNode
  readonly #patterns: PatternTest
  readonly #work: WorkBudget
  /** Queries that begin at the root have the same result for every node. */
  readonly #fromRoot = new Map<object, readonly JsonNode[]>()

  constructor(text: string, root: JsonNode, patterns: PatternTest, work: WorkBudget) {
    this.#text = text
    this.#root = root
    this.#patterns = patterns
    this.#work = work
  }

  /** The nodes selected by the path. Throws BudgetSpent. */
  query(query: JsonPathQuery): readonly JsonNode[] {
    return this.#follow([this.#root], query.segments)
  }

  #follow(from: readonly JsonNode[], segments: readonly (Segment | SingularSegment)[]): readonly JsonNode[] {
    let nodes = from
    for (const { type, node: selection } of segments) {
      const selected = new Set<JsonNode>()
      for (const node of type === 'DescendantSegment' ? this.#withDescendants(nodes) : nodes) {
        this.#select(node, selection, selected)
      }
      nodes = [...selected]
    }
    return nodes
  }

  #withDescendants(nodes: readonly JsonNode[]): Set<JsonNode> {
    const all = new Set(nodes)
    // Iteration over a set includes members added meanwhile.
    for (const node of all) {
      this.#work.spend(1)
      for (const child of node.children) all.add(child)
    }
    return all
  }

  #select(node: JsonNode, selection: Selection | SingularSegment['node'], into: Set<JsonNode>): void {
    switch (selection.type) {
      case 'MemberNameShorthand':
      case 'NameSelector':
        return this.#byName(node, selection.value, into)
      case 'WildcardSelector':
        this.#work.spend(node.children.length)
        for (const child of node.children) into.add(child)
        return
      case 'IndexSelector':
        if (node.kind !== 'array') return
        return this.#add(node.children.at(selection.value), into)
      case 'BracketedSelection':
        for (const selector of selection.selectors) this.#bySelector(node, selector, into)
    }
  }

  #bySelector(node: JsonNode, selector: Selector, into: Set<JsonNode>): void {
    this.#work.spend(1)
    if (selector.type === 'FilterSelector') {
      for (const child of node.children) if (this.#passes(child, selector.value)) into.add(child)
    } else if (selector.type === 'SliceSelector') {
      if (node.kind === 'array') this.#bySlice(node, selector, into)
    } else this.#select(node, selector, into)
  }

  #byName(node: JsonNode, name: string, into: Set<JsonNode>): void {
    this.#work.spend(1 + node.names.length)
    for (const [i, other] of node.names.entries()) if (other === name) this.#add(node.children[i], into)
  }

  #bySlice(
    { children }: JsonNode,
    slice: Extract<Selector, { type: 'SliceSelector' }>,
    into: Set<JsonNode>,
  ): void {
    const step = slice.step ?? 1
    const { length } = children
    if (step === 0) return
    const at = (index: number): number => (index < 0 ? length + index : index)
    const within = (index: number, low: number, high: number): number => Math.min(Math.max(index, low), high)
    if (step > 0) {
      const end = within(at(slice.end ?? length), 0, length)
      for (let i = within(at(slice.start ?? 0), 0, length); i < end; i += step) this.#add(children[i], into)
    } else {
      const end = slice.end === null ? -1 : within(at(slice.end), -1, length - 1)
      const start = within(at(slice.start ?? length - 1), -1, length - 1)
      for (let i = start; i > end; i += step) this.#add(children[i], into)
    }
  }

  #add(node: JsonNode | undefined, into: Set<JsonNode>): void {
    this.#work.spend(1)
    if (node !== undefined) into.add(node)
  }

  #passes(node: JsonNode, filter: Filter): boolean {
    this.#work.spend(1)
    switch (filter.type) {
      case 'LogicalOrExpr':
        return this.#passes(node, filter.left) || this.#passes(node, filter.right)
      case 'LogicalAndExpr':
        return this.#passes(node, filter.left) && this.#passes(node, filter.right)
      case 'LogicalNotExpr':
        return !this.#passes(node, filter.expression)
      case 'TestExpr':
        return filter.expression.type === 'FilterQuery'
          ? this.#nodes(node, filter.expression.value).length > 0
          : this.#call(node, filter.expression).includes(true)
      case 'ComparisonExpr': {
        const right = this.#comparable(node, filter.right)
        return this.#comparable(node, filter.left).some((a) =>
          right.some((b) => compareValues(this.#text, a, filter.op, b, this.#work)),
        )
      }
    }
  }

  #nodes(node: JsonNode, query: FilterQuery): readonly JsonNode[] {
    if (query.type === 'RelQuery') return this.#follow([node], query.segments)
    return this.#cached(query, query.segments)
  }

  #cached(query: object, segments: readonly (Segment | SingularSegment)[]): readonly JsonNode[] {
    const known = this.#fromRoot.get(query)
    if (known !== undefined) return known
    const nodes = this.#follow([this.#root], segments)
    this.#fromRoot.set(query, nodes)
    return nodes
  }

  /** The values of one side; repeated members give several, and any of them may match. */
  #comparable(node: JsonNode, side: Comparable): readonly PathValue[] {
    switch (side.type) {
      case 'Literal':
        return [side.value]
      case 'FunctionExpr':
        return this.#call(node, side)
      case 'RelSingularQuery':
        return this.#values(this.#follow([node], side.segments))
      case 'AbsSingularQuery':
        return this.#values(this.#cached(side, side.segments))
    }
  }

  #values(nodes: readonly JsonNode[]): readonly PathValue[] {
    return nodes.length === 0 ? [undefined] : nodes.map((node) => valueOf(this.#text, node, this.#work))
  }

  #call(node: JsonNode, call: FunctionCall): readonly PathValue[] {
    const [argument] = call.arguments
    if (argument === undefined) return [undefined]
    if (call.name === 'count' || call.name === 'value') {
      const nodes = argument.type === 'FilterQuery' ? this.#nodes(node, argument.value) : []
      if (call.name === 'count') return [nodes.length]
      return nodes.length === 1 ? this.#values(nodes) : [undefined]
    }
    const values = this.#argument(node, argument)
    if (call.name === 'length') return values.map((value) => lengthOf(value))
    return values.map((value) => {
      if (typeof value !== 'string') return false
      this.#work.spend(value.length)
      return this.#patterns(call, value)
    })
  }

  #argument(node: JsonNode, argument: Argument): readonly PathValue[] {
    if (argument.type === 'Literal') return [argument.value]
    if (argument.type === 'FunctionExpr') return this.#call(node, argument)
    return argument.type === 'FilterQuery' ? this.#values(this.#nodes(node, argument.value)) : [undefined]
  }
}

/** In characters, members or elements. */
function lengthOf(value: PathValue): number | undefined {
  if (typeof value === 'string') return Array.from(value).length
  return typeof value === 'object' && value !== null ? value.children.length : undefined
}
