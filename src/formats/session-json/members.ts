import type { JsonMembers } from '../../model/index.js'

/** Members in the order of writing; later ones replace earlier ones of the same name. */
export class Members {
  readonly #members = new Map<string, string>()

  /** @param json the value as JSON text; undefined adds nothing */
  add(name: string, json: string | number | undefined): this {
    if (json !== undefined) this.#members.set(name, String(json))
    return this
  }

  text(name: string, value: string | null | undefined): this {
    return this.add(name, value === undefined ? undefined : JSON.stringify(value))
  }

  addAll(members: JsonMembers): this {
    for (const [name, json] of members) this.#members.set(name, json)
    return this
  }

  get(name: string): string | undefined {
    return this.#members.get(name)
  }

  get size(): number {
    return this.#members.size
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.#members.entries()
  }

  /** On one line. */
  toString(): string {
    return objectText(this)
  }
}

/** A JSON object on one line; names may repeat. */
export function objectText(members: Iterable<readonly [name: string, json: string]>): string {
  return `{${[...members].map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')}}`
}

/**
 * A line of a tape, combined from derived and kept members. Kept members take precedence and come last, so
 * that unknown members keep their order.
 */
export function mergedLine(derived: JsonMembers, kept: JsonMembers): JsonMembers {
  const names = new Set(kept.map(([name]) => name))
  return [...derived.filter(([name]) => !names.has(name)), ...kept]
}
