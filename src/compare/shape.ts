import { elementsOf, kindAt, skipValue, type JsonKind, type Span } from '../wire/index.js'
import { deepest, lastMembers } from './canonical-json.js'
import type { Difference, JsonDiff, Tolerance } from './json-diff.js'
import { toPointer, type JsonPlace } from './json-place.js'

/** Shape of values: their types, the members of objects, the elements of arrays. */
interface Shape {
  readonly kinds: Set<JsonKind>
  readonly members: Map<string, Shape>
  /** Number of objects, and number of occurrences of this value. */
  objects: number
  seen: number
  items: Shape | undefined
  /** Exact text of the first value. */
  readonly sample: string
}

const longestSample = 2_000

/**
 * Differences in the shapes of two values: types, and members that are always or never present. All elements
 * of an array share one shape, so array lengths may differ; an empty array matches any other.
 */
export function diffShapes(
  before: string,
  beforeSpan: Span,
  after: string,
  afterSpan: Span,
  tolerance: Tolerance,
  most = 100,
): JsonDiff {
  const differences: Difference[] = []
  let more = 0
  const add = (difference: Difference): void => {
    if (differences.length < most) differences.push(difference)
    else more += 1
  }

  function compare(a: Shape, b: Shape, place: JsonPlace): void {
    const kinds = [...b.kinds].filter((kind) => !a.kinds.has(kind))
    if (kinds.length > 0) return add({ kind: 'changed', place, before: a.sample, after: b.sample })
    for (const [name, member] of a.members) {
      const other = b.members.get(name)
      const inner = [...place, name]
      if (other) compare(member, other, inner)
      // An optional member may be missing.
      else if (b.objects > 0 && member.seen === a.objects)
        add({ kind: 'removed', place: inner, before: member.sample })
    }
    if (a.objects > 0) {
      for (const [name, member] of b.members) {
        if (!a.members.has(name)) add({ kind: 'added', place: [...place, name], after: member.sample })
      }
    }
    if (a.items && b.items) compare(a.items, b.items, [...place, 0])
  }

  const ignores = (side: 'before' | 'after') => (place: JsonPlace) =>
    tolerance.isIgnored(side, toPointer(place))
  compare(
    shapeOf(before, beforeSpan.start, ignores('before')),
    shapeOf(after, afterSpan.start, ignores('after')),
    [],
  )
  return { differences, more }
}

function shapeOf(text: string, start: number, isIgnored: (place: JsonPlace) => boolean): Shape {
  const root = emptyShape(text, start)
  look(root, start, [], 0)
  return root

  function look(shape: Shape, at: number, place: JsonPlace, depth: number): void {
    const kind = kindAt(text, at)
    shape.kinds.add(kind)
    shape.seen += 1
    if (depth === deepest) return
    if (kind === 'array') {
      for (const [i, element] of elementsOf(text, at).entries()) {
        const inner = [...place, i]
        if (isIgnored(inner)) continue
        shape.items ??= emptyShape(text, element.start)
        look(shape.items, element.start, inner, depth + 1)
      }
    }
    if (kind !== 'object') return
    shape.objects += 1
    for (const { name, start: from } of lastMembers(text, at)) {
      const inner = [...place, name]
      if (isIgnored(inner)) continue
      let member = shape.members.get(name)
      if (!member) shape.members.set(name, (member = emptyShape(text, from)))
      look(member, from, inner, depth + 1)
    }
  }
}

function emptyShape(text: string, start: number): Shape {
  const sample = text.slice(start, Math.min(skipValue(text, start), start + longestSample))
  return { kinds: new Set(), members: new Map(), objects: 0, seen: 0, items: undefined, sample }
}
