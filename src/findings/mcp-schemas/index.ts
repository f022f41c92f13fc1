import { checkSchema, type SchemaFault } from '../../compare/index.js'
import { at, textAt, type Json, type JsonMap } from '../json.js'
import { compileSchema, type Fits } from './compile.js'
import { definitions, revisions } from './definitions.js'

/** The official schema of one revision of the protocol. */
class ProtocolSchema {
  /** Revision of the protocol, such as `2025-11-25`. */
  readonly revision: string
  readonly #definitions = new Map<string, JsonMap>()
  readonly #compiled = new Map<string, Fits>()
  /** Definition name of a request or notification, by method. */
  readonly #ofMethod = new Map<string, string>()

  constructor(revision: string, text: string) {
    this.revision = revision
    for (const entry of text.split(' ')) {
      const [name = '', index] = entry.split('=')
      const definition = JSON.parse(definitions[Number(index)]!) as JsonMap
      this.#definitions.set(name, definition)
      const method = textAt(definition, 'properties', 'method', 'const')
      if (method !== undefined) this.#ofMethod.set(method, name)
    }
  }

  /** Definition name of a request or notification with this method; undefined if the revision lacks it. */
  ofMethod(method: string): string | undefined {
    return this.#ofMethod.get(method)
  }

  /** Definition name of a result; undefined if the revision lacks the method. */
  ofResult(method: string, result: Json | undefined): string | undefined {
    const request = this.#ofMethod.get(method)
    if (request === undefined) return undefined
    const type = textAt(result, 'resultType')
    const isOther = type !== undefined && type !== 'complete'
    if (isOther)
      return type === 'input_required' && this.#has('InputRequiredResult') ? 'InputRequiredResult' : undefined
    if (at(result, 'task') !== undefined && this.#has('CreateTaskResult')) return 'CreateTaskResult'
    const own = request.replace(/Request$/, 'Result')
    return this.#has(own) ? own : 'EmptyResult'
  }

  /**
   * @param unknown JSON Pointers to parts of the value that may be anything
   * @returns violations of the definition
   */
  faults(name: string, value: Json, unknown: () => ReadonlySet<string>): readonly SchemaFault[] {
    if (this.#fits(name)(value)) return []
    const schema = { $ref: `#/$defs/${name}`, $defs: Object.fromEntries(this.#definitions) }
    return checkSchema(schema, value, unknown())
  }

  #has(name: string): boolean {
    return this.#definitions.has(name)
  }

  #fits(name: string): Fits {
    let fits = this.#compiled.get(name)
    if (!fits) {
      fits = compileSchema(this.#definitions.get(name) ?? true, (other) => this.#fits(other))
      this.#compiled.set(name, fits)
    }
    return fits
  }
}

const made = new Map<string, ProtocolSchema>()

/**
 * The schema of a revision; undefined if unknown. For 2024-11-05 the package has no schema: 2025-03-26 only adds
 * optional members, so a violation of its schema also violates the older one.
 */
export function protocolSchema(version: string | undefined): ProtocolSchema | undefined {
  const revision = version === '2024-11-05' ? '2025-03-26' : version
  if (revision === undefined || !Object.hasOwn(revisions, revision)) return undefined
  let schema = made.get(revision)
  if (!schema) made.set(revision, (schema = new ProtocolSchema(revision, revisions[revision]!)))
  return schema
}
