import type { JsonMembers } from '../../model/index.js'
import { JsonObject, kindAt } from '../../wire/index.js'

/** Members of a session file that only it has, on the records of a tape: unknown ones, and texts we would write otherwise. */
export const keptName = 'session'

/** Members in the order in which they are written; later ones of the same name take the place of earlier ones. */
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
    return `{${[...this.#members].map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')}}`
  }
}

/** What a session file had beside what we would write. */
export function keptOf(extra: JsonMembers | undefined): JsonMembers {
  const text = extra?.find(([name]) => name === keptName)?.[1]
  return text === undefined || kindAt(text, 0) !== 'object' ? [] : new JsonObject(text, 0).others()
}

/** Of what stands in a file, what the members that we would write do not say. */
export function differing(inFile: JsonMembers, ours: Members): JsonMembers {
  return inFile.filter(([name, json]) => ours.get(name) !== json)
}
