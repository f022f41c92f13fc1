import { decodeString } from '../wire/index.js'

/** One open container on the path to the current position. */
interface Level {
  isObject: boolean
  /** For an array: the current element. */
  index: number
  /** For an object: the position of the current member's name, or the name after redaction. */
  nameStart: number
  nameEnd: number
  redactedName: string | undefined
}

/**
 * The path from the root of a JSON text to the current position. Cheap to keep; written as a JSON Pointer only
 * for findings.
 */
export class JsonPathStack {
  readonly #text: string
  readonly #levels: Level[] = []
  #depth = 0
  /** Characters left for pointers: thousands of marks below one huge name must stay linear. */
  #budget: number

  constructor(text: string) {
    this.#text = text
    this.#budget = 4 * text.length + 65_536
  }

  get depth(): number {
    return this.#depth
  }

  /** Whether the innermost open container is an object. */
  get inObject(): boolean {
    return this.#levels[this.#depth - 1]?.isObject === true
  }

  enter(isObject: boolean): void {
    const level = this.#levels[this.#depth++]
    if (level === undefined) {
      this.#levels.push({ isObject, index: 0, nameStart: 0, nameEnd: 0, redactedName: undefined })
      return
    }
    level.isObject = isObject
    level.index = 0
    level.redactedName = undefined
  }

  leave(): void {
    this.#depth--
  }

  nextElement(): void {
    this.#levels[this.#depth - 1]!.index++
  }

  member(nameStart: number, nameEnd: number): void {
    const level = this.#levels[this.#depth - 1]!
    level.nameStart = nameStart
    level.nameEnd = nameEnd
    level.redactedName = undefined
  }

  /** Sets the redacted name of the current member, whose name holds a secret. */
  redactName(left: string): void {
    this.#levels[this.#depth - 1]!.redactedName = left
  }

  /** RFC 6901. If the marks need more room than there is, `` (the whole text). */
  pointer(): string {
    if (this.#budget <= 0) return ''
    const parts: string[] = []
    for (let i = 0; i < this.#depth; i++) {
      const level = this.#levels[i]!
      const token = level.isObject ? this.#nameOf(level) : String(level.index)
      parts.push('/', token)
      this.#budget -= token.length + 1
      if (this.#budget <= 0) return ''
    }
    return parts.join('')
  }

  #nameOf({ redactedName, nameStart, nameEnd }: Level): string {
    const name = redactedName ?? decodeString(this.#text, nameStart, nameEnd)
    return name.includes('~') || name.includes('/') ? name.replaceAll('~', '~0').replaceAll('/', '~1') : name
  }
}
