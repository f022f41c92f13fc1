import type { JsonMembers } from '../../model/index.js'
import { canonicalNumber, type JsonObject } from '../../wire/index.js'

/**
 * The members of one object, read on request. Members that were not requested, or have another type than
 * requested, are left over and kept as they are: a rewrite loses nothing.
 */
export class LineMembers {
  readonly object: JsonObject
  /** Every character of the line is known to be one byte. */
  readonly ascii: boolean
  readonly #used: string[] = []

  constructor(object: JsonObject, ascii = false) {
    this.object = object
    this.ascii = ascii
  }

  use(...names: readonly string[]): void {
    this.#used.push(...names)
  }

  string(name: string): string | undefined {
    return this.#took(name, this.object.string(name))
  }

  /** A number that a JavaScript number holds exactly. */
  number(name: string): number | undefined {
    const text = this.object.raw(name)
    const value = text === undefined ? undefined : this.object.number(name)
    if (value === undefined) return undefined
    const exact = String(value)
    return exact === text || (Number.isFinite(value) && canonicalNumber(exact) === canonicalNumber(text!))
      ? this.#took(name, value)
      : undefined
  }

  /** A non-negative integer. */
  count(name: string): number | undefined {
    const value = this.object.number(name)
    return Number.isSafeInteger(value) && value! >= 0 ? this.number(name) : undefined
  }

  isTrue(name: string): boolean {
    return this.#took(name, this.object.raw(name) === 'true' ? true : undefined) === true
  }

  /** One of the words, otherwise undefined. */
  oneOf<const W extends string>(name: string, words: readonly W[]): W | undefined {
    const value = this.object.string(name)
    for (const word of words) if (word === value) return this.#took(name, word)
    return undefined
  }

  /** The remaining members, to be spread into a record. */
  rest(): { extra?: JsonMembers } {
    const extra = this.object.others(this.#used)
    return extra.length > 0 ? { extra } : {}
  }

  #took<T>(name: string, value: T | undefined): T | undefined {
    if (value !== undefined) this.#used.push(name)
    return value
  }
}
