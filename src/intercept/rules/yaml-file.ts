import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type Document,
  type Node,
  type Scalar,
} from 'yaml'
import type { Diagnostic, Position } from '../../model/index.js'

export type { Node } from 'yaml'

/** A member of a mapping. */
export interface YamlMember {
  readonly name: string
  /** The name's own place. */
  readonly key: Node
  /** Absent where nothing stands behind the colon. */
  readonly value: Node | undefined
}

/** A value as a rules file may have it; text stands for itself. */
export type YamlKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null'

/** Values that a value may consist of: an alias can name the same one again and again. */
const mostValues = 100_000
const deepest = 100

/** Reads YAML 1.2, of which JSON is a part. What is wrong becomes a diagnostic with its place. */
export class YamlFile {
  readonly diagnostics: Diagnostic[] = []
  /** Undefined for an empty file, and for one that is no YAML. */
  readonly top: Node | undefined
  readonly #text: string
  readonly #lines = new LineCounter()
  readonly #document: Document

  constructor(text: string) {
    this.#text = text
    const document = parseDocument(text, { lineCounter: this.#lines, prettyErrors: false, strict: true })
    this.#document = document
    for (const { code, message, pos } of [...document.errors, ...document.warnings]) {
      const isSecond = code === 'MULTIPLE_DOCS'
      this.failAt(
        pos[0],
        isSecond ? 'a second document begins here: expected one' : `is no YAML here: ${sentence(message)}`,
      )
    }
    this.top = document.errors.length > 0 ? undefined : (document.contents ?? undefined)
  }

  /** @param message what is wrong and what was expected */
  fail(node: Node | undefined, message: string): void {
    this.failAt(node?.range?.[0] ?? 0, message)
  }

  failAt(index: number, message: string): void {
    this.diagnostics.push({ severity: 'error', code: 'bad-rules-file', message, at: this.#position(index) })
  }

  /** The exact text of a node. */
  source(node: Node): string {
    const [start, end] = node.range ?? [0, 0]
    return this.#text.slice(start, end)
  }

  /**
   * The place of a character of a string as it was read; of the string, where they do not stand side by side in the
   * file (escapes, several lines).
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

  /** Members in their order; those whose name is no text are told. */
  members(node: Node): YamlMember[] {
    const resolved = this.#resolve(node)
    if (!isMap(resolved)) return []
    return resolved.items.flatMap(({ key, value }) => {
      const keyNode = key as Node
      const keyValue: unknown = isScalar(keyNode) ? keyNode.value : undefined
      if (typeof keyValue === 'string' || typeof keyValue === 'number' || typeof keyValue === 'boolean') {
        return [{ name: String(keyValue), key: keyNode, value: (value as Node | null) ?? undefined }]
      }
      this.fail(keyNode, 'the name of a member is no text: put it in quotes')
      return []
    })
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

  /** The value as JSON text on one line; numbers keep their digits. Undefined, and told, when it cannot be one. */
  json(node: Node | undefined): string | undefined {
    const budget = { left: mostValues }
    try {
      return this.#json(node, 0, budget)
    } catch (problem) {
      if (!(problem instanceof NoJson)) throw problem
      this.fail(problem.node ?? node, problem.message)
      return undefined
    }
  }

  #json(node: Node | undefined, depth: number, budget: { left: number }): string {
    budget.left -= 1
    if (budget.left < 0) throw new NoJson(node, `the value has more than ${mostValues} parts`)
    if (depth > deepest) throw new NoJson(node, `the value is nested more than ${deepest} deep`)
    const resolved = this.#resolve(node)
    if (isMap(resolved)) {
      const members = this.members(resolved).map(
        ({ name, value }) => `${JSON.stringify(name)}:${this.#json(value, depth + 1, budget)}`,
      )
      return `{${members.join(',')}}`
    }
    if (isSeq(resolved)) {
      return `[${resolved.items.map((item) => this.#json(item as Node, depth + 1, budget)).join(',')}]`
    }
    return isScalar(resolved) ? scalarJson(resolved) : 'null'
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
  if (typeof value === 'string') return JSON.stringify(value)
  return typeof value === 'boolean' ? String(value) : 'null'
}

/** As a part of a longer one. */
function sentence(message: string): string {
  return message.charAt(0).toLowerCase() + message.slice(1)
}
