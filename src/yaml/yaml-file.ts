import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type Document,
  type Node,
  type Scalar,
} from 'yaml'
import { nearestTo } from '../filter/index.js'
import type { Diagnostic, Position } from '../model/index.js'

export type { Node } from 'yaml'

/** A member of a mapping. */
export interface YamlMember {
  readonly name: string
  /** Node of the name. */
  readonly key: Node
  /** Absent if nothing follows the colon. */
  readonly value: Node | undefined
}

/** Kinds of values in a rules file. */
export type YamlKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null'

/** Limit of nested values, since an alias can repeat the same one many times. */
const mostValues = 100_000
const deepest = 100
/** Characters of a name shown in a diagnostic. */
const longestName = 60

export interface YamlFileOptions {
  /** Code of diagnostics. @default 'bad-rules-file' */
  readonly code?: string
}

/** Reads YAML 1.2, which includes JSON. Problems become diagnostics with their place. */
export class YamlFile {
  readonly diagnostics: Diagnostic[] = []
  /** Undefined for an empty file and for invalid YAML. */
  readonly top: Node | undefined
  readonly #code: string
  readonly #text: string
  readonly #lines = new LineCounter()
  readonly #document: Document

  constructor(text: string, { code = 'bad-rules-file' }: YamlFileOptions = {}) {
    this.#text = text
    this.#code = code
    const document = parseDocument(text, {
      lineCounter: this.#lines,
      prettyErrors: false,
      strict: true,
      // The library's check is quadratic: minutes for a large file.
      uniqueKeys: false,
    })
    this.#document = document
    for (const { code, message, pos } of [...document.errors, ...document.warnings]) {
      const isSecond = code === 'MULTIPLE_DOCS'
      this.failAt(
        pos[0],
        isSecond
          ? 'a second document begins here: expected only one'
          : `is not valid YAML here: ${sentence(message)}`,
      )
    }
    if (document.errors.length === 0) this.#checkNames()
    this.top = this.diagnostics.length > 0 ? undefined : (document.contents ?? undefined)
  }

  #checkNames(): void {
    visit(this.#document, {
      Map: (_, { items }) => {
        const names = new Set<unknown>()
        for (const { key } of items) {
          if (!isScalar(key)) continue
          if (names.has(key.value)) this.fail(key, 'is not valid YAML here: map keys must be unique')
          names.add(key.value)
        }
      },
    })
  }

  /** @param message the problem and the expected value */
  fail(node: Node | undefined, message: string): void {
    this.failAt(node?.range?.[0] ?? 0, message)
  }

  failAt(index: number, message: string): void {
    this.diagnostics.push({ severity: 'error', code: this.#code, message, at: this.#position(index) })
  }

  /** 1-based. */
  lineOf(node: Node): number {
    return this.#position(node.range?.[0] ?? 0).line ?? 1
  }

  /** The exact text of a node. */
  source(node: Node): string {
    const [start, end] = node.range ?? [0, 0]
    return this.#text.slice(start, end)
  }

  /**
   * Place in the file of a character of a parsed string; that of the string if the characters are not contiguous in
   * the file (escapes, several lines).
   */
  within(node: Node, column: number): { readonly index: number; readonly exact: boolean } {
    const [start] = node.range ?? [0]
    const value = this.string(node) ?? ''
    const source = this.source(node)
    const quote = source.startsWith('"') || source.startsWith("'") ? 1 : 0
    const exact = source.slice(quote, quote + value.length) === value
    return exact ? { index: start + quote + column - 1, exact } : { index: start, exact }
  }

  kind(node: Node | undefined): YamlKind {
    const resolved = this.#resolve(node)
    if (isMap(resolved)) return 'object'
    if (isSeq(resolved)) return 'array'
    const value = isScalar(resolved) ? resolved.value : null
    if (typeof value === 'string') return 'string'
    if (typeof value === 'number' || typeof value === 'bigint') return 'number'
    return typeof value === 'boolean' ? 'boolean' : 'null'
  }

  /** Members in file order; names that are not strings are reported. */
  members(node: Node): YamlMember[] {
    const resolved = this.#resolve(node)
    if (!isMap(resolved)) return []
    return resolved.items.flatMap(({ key, value }) => {
      const keyNode = key as Node
      const keyValue: unknown = isScalar(keyNode) ? keyNode.value : undefined
      if (typeof keyValue === 'string' || typeof keyValue === 'number' || typeof keyValue === 'boolean') {
        return [{ name: String(keyValue), key: keyNode, value: (value as Node | null) ?? undefined }]
      }
      this.fail(keyNode, 'the name of a member is not a string: put it in quotes')
      return []
    })
  }

  /** Members by name. Unknown names are reported. @param owner of the members, in words */
  knownMembers(node: Node, known: readonly string[], owner: string): Map<string, YamlMember> {
    const members = new Map<string, YamlMember>()
    for (const member of this.members(node)) {
      if (known.includes(member.name)) {
        members.set(member.name, member)
        continue
      }
      const near = nearestTo(member.name, known)
      const advice = near === undefined ? `expected one of ${known.join(', ')}` : `did you mean ${near}?`
      this.fail(member.key, `${owner} has ${JSON.stringify(member.name.slice(0, longestName))}: ${advice}`)
    }
    return members
  }

  elements(node: Node): Node[] {
    const resolved = this.#resolve(node)
    return isSeq(resolved) ? (resolved.items as Node[]) : []
  }

  string(node: Node | undefined): string | undefined {
    const value = this.#scalar(node)
    return typeof value === 'string' ? value : undefined
  }

  number(node: Node | undefined): number | undefined {
    const value = this.#scalar(node)
    return typeof value === 'number' ? value : undefined
  }

  boolean(node: Node | undefined): boolean | undefined {
    const value = this.#scalar(node)
    return typeof value === 'boolean' ? value : undefined
  }

  /**
   * The value as JSON text on one line; numbers keep their digits. Undefined, with a diagnostic, if it is no JSON.
   *
   * @param stringJson converts a string to JSON if it is not the string itself
   */
  json(node: Node | undefined, stringJson: StringJson = (text) => JSON.stringify(text)): string | undefined {
    const budget = { left: mostValues }
    try {
      return this.#json(node, 0, { budget, stringJson })
    } catch (problem) {
      if (!(problem instanceof NoJson)) throw problem
      this.fail(problem.node ?? node, problem.message)
      return undefined
    }
  }

  #json(node: Node | undefined, depth: number, making: JsonMaking): string {
    const { budget } = making
    budget.left -= 1
    if (budget.left < 0) throw new NoJson(node, `the value has more than ${mostValues} parts`)
    if (depth > deepest) throw new NoJson(node, `the value is nested more than ${deepest} deep`)
    const resolved = this.#resolve(node)
    if (isMap(resolved)) {
      const members = this.members(resolved).map(
        ({ name, value }) => `${JSON.stringify(name)}:${this.#json(value, depth + 1, making)}`,
      )
      return `{${members.join(',')}}`
    }
    if (isSeq(resolved)) {
      return `[${resolved.items.map((item) => this.#json(item as Node, depth + 1, making)).join(',')}]`
    }
    if (!isScalar(resolved)) return 'null'
    return typeof resolved.value === 'string'
      ? making.stringJson(resolved.value, node ?? resolved)
      : scalarJson(resolved)
  }

  #scalar(node: Node | undefined): unknown {
    const resolved = this.#resolve(node)
    return isScalar(resolved) ? resolved.value : undefined
  }

  #resolve(node: Node | undefined): Node | undefined {
    return isAlias(node) ? node.resolve(this.#document) : node
  }

  #position(index: number): Position {
    const { line, col } = this.#lines.linePos(Math.min(index, this.#text.length))
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
}

/** Returns the JSON of a string value at a node. */
export type StringJson = (text: string, node: Node) => string

interface JsonMaking {
  readonly budget: { left: number }
  readonly stringJson: StringJson
}

class NoJson extends Error {
  readonly node: Node | undefined

  constructor(node: Node | undefined, message: string) {
    super(message)
    this.node = node
  }
}

function scalarJson(scalar: Scalar): string {
  const { value, source } = scalar
  if (typeof value === 'number' || typeof value === 'bigint') {
    if (source !== undefined && /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(source)) return source
    if (typeof value === 'number' && !Number.isFinite(value))
      throw new NoJson(scalar, `JSON has no ${source ?? value}`)
    return String(value)
  }
  return typeof value === 'boolean' ? String(value) : 'null'
}

/** For use within a sentence. */
function sentence(message: string): string {
  return message.charAt(0).toLowerCase() + message.slice(1)
}
