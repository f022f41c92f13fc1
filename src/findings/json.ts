import { pointerStep } from '../wire/index.js'
/** A parsed JSON value. Numbers may have lost digits: rules compare texts where that matters. */
export type Json = null | boolean | number | string | Json[] | JsonMap
export interface JsonMap {
  [name: string]: Json
}

export function isMap(value: unknown): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value at a path of member names; undefined if there is none. */
export function at(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  let current = value
  for (const name of path) {
    if (!isMap(current) || !Object.hasOwn(current, name)) return undefined
    current = current[name]
  }
  return current
}

export function textAt(value: Json | undefined, ...path: readonly string[]): string | undefined {
  const found = at(value, ...path)
  return typeof found === 'string' ? found : undefined
}

export function listAt(value: Json | undefined, ...path: readonly string[]): readonly Json[] {
  const found = at(value, ...path)
  return Array.isArray(found) ? found : []
}

/** The same text for equal values, regardless of member order. */
export function canonicalText(value: Json | undefined): string | undefined {
  return JSON.stringify(value, (_, found: Json) =>
    isMap(found) ? Object.fromEntries(Object.entries(found).toSorted(([a], [b]) => (a < b ? -1 : 1))) : found,
  )
}

/** Limit of strings checked per value, since a peer determines their number. */
const mostStrings = 100_000

/** Every string in a value, member names included, with the JSON Pointer of the value it is or names. */
export function* stringsIn(
  value: Json | undefined,
  pointer = '',
): Generator<readonly [text: string, pointer: string]> {
  const open: (readonly [Json | undefined, string])[] = [[value, pointer]]
  let seen = 0
  for (let next = open.pop(); next; next = open.pop()) {
    const [found, place] = next
    if ((seen += 1) > mostStrings) return
    if (typeof found === 'string') yield [found, place]
    else if (Array.isArray(found)) {
      for (let i = found.length - 1; i >= 0; i -= 1) open.push([found[i], `${place}/${i}`])
    } else if (isMap(found)) {
      for (const [name, member] of Object.entries(found).toReversed()) {
        const inner = place + pointerStep(name)
        open.push([member, inner])
        yield [name, inner]
      }
    }
  }
}
