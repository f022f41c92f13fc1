import type { HttpHeaders } from '../model/index.js'
import { redactCommand } from './command.js'
import { Credentials } from './credentials.js'
import {
  CleanHeaders,
  redactEndpoint,
  redactHeaders,
  redactParameters,
  redactPathKeys,
  type HeaderRules,
} from './http.js'
import { redactJson, type RedactedJson, type WholeValue } from './json-redactor.js'
import { KeyBlocks } from './key-block.js'
import { marker } from './marker.js'
import { tooManyRule, TooManyMarks } from './finding.js'
import { TextRedactor, type TextRule } from './text-redactor.js'
import { findTooDeep, messagesOf, payloadsOf } from './whole-values.js'
import { bytesHaveTrigger, findTrigger } from './trigger.js'
import { redactUrl } from './url.js'

/** A user's rule for values at a path. */
export interface PathRule {
  readonly kind: 'path'
  /** For the report. */
  readonly name: string
  /** Adds values at the path in a checked JSON text, by their start. Keeps existing entries. Throws TooManyMarks. */
  find(text: string, whole: Map<number, WholeValue>): void
}

/** A user's rule, compiled by `compileRules`. */
export type CompiledRule = TextRule | PathRule

/** The rules that fired and their counts, in the order of their first match. Never the secrets. */
export type RedactionReport = readonly { readonly rule: string; readonly count: number }[]

export interface RedactorOptions {
  /** The built-in rules. */
  readonly defaults: boolean
  readonly rules?: readonly CompiledRule[]
  /** A tag for a secret, equal for equal secrets: an HMAC under a key that is discarded after the run. */
  readonly tag: (secret: string) => string
}

const nothingWhole: ReadonlyMap<number, WholeValue> = new Map()

/** Clients and servers repeat their heads: results for the last ones are kept. */
const mostKnown = 128
const longestKnown = 1024

/** A kept result, and the rules to count whenever it is used. */
interface Again<T> {
  readonly made: T
  readonly counted: readonly string[]
}

/** Redacts the data of one recording, and counts findings. */
export class Redactor {
  readonly #options: RedactorOptions
  readonly #rules: readonly CompiledRule[]
  readonly #counts = new Map<string, number>()
  #total = 0
  /** Rules counted since a result that will be repeated was begun. */
  #heard: string[] | undefined
  readonly #knownHeaders = new Map<HttpHeaders, Again<HttpHeaders>>()
  readonly #knownPaths = new Map<string, Again<string>>()
  readonly #counted = (rule: string): void => {
    this.#heard?.push(rule)
    this.#total += 1
    this.#counts.set(rule, (this.#counts.get(rule) ?? 0) + 1)
  }
  readonly #textRules: TextRule[]
  readonly #pathRules: PathRule[]
  readonly #words: TextRedactor
  readonly #blocks = new KeyBlocks()
  readonly #active: boolean
  readonly #http: HeaderRules
  /** For the tape's first line. */
  readonly name: 'none' | 'defaults' | 'defaults+rules' | 'rules'

  /** A redactor for one recording. Holds counts, channels with an open private key, and headers without secrets. */
  constructor(options: RedactorOptions) {
    this.#options = options
    this.#rules = options.rules ?? []
    this.#textRules = this.#rules.filter((rule) => rule.kind === 'text')
    this.#pathRules = this.#rules.filter((rule) => rule.kind === 'path')
    this.#words = new TextRedactor(options.defaults, this.#textRules)
    const credentials = new Credentials(options.tag)
    this.#http = {
      counted: this.#counted,
      text: (text) => this.text(text),
      credential: (secret) => credentials.factsOf(secret),
      always: this.#textRules.length > 0,
      total: () => this.#total,
      clean: new CleanHeaders(),
    }
    const hasRules = this.#rules.length > 0
    this.#active = options.defaults || hasRules
    if (options.defaults) this.name = hasRules ? 'defaults+rules' : 'defaults'
    else this.name = hasRules ? 'rules' : 'none'
  }

  /**
   * One frame's JSON text, a message or a batch, accepted by findJsonValue. Undefined, as usual, if there are no
   * secrets: the text can be kept unchanged.
   */
  json(raw: string): RedactedJson | undefined {
    if (!this.#active) return undefined
    const whole = raw.length > 40_000 || this.#pathRules.length > 0 ? this.#wholeValues(raw) : nothingWhole
    const found = this.#options.defaults ? findTrigger(raw, 0) : -1
    if (found < 0 && whole.size === 0 && this.#textRules.length === 0) return undefined
    return this.#redactAll(raw, found < 0 ? Infinity : found, whole)
  }

  /**
   * Whether `json` would certainly find no secrets in the text with these UTF-8 bytes; no text is created. The caller
   * must have checked that it is nested less than 1,000 deep.
   *
   * @param address of the bytes in `messageMemory`
   */
  isClean(bytes: Uint8Array, start: number, end: number, address?: number): boolean {
    if (!this.#active) return true
    return this.#rules.length === 0 && !bytesHaveTrigger(bytes, start, end, address)
  }

  /**
   * One line of stderr, or one that is not a message, without its line end. A private key that began in an earlier line
   * of the same `channel` continues to its end, for at most 500 lines. Undefined: no secrets.
   */
  line(text: string, channel: string): string | undefined {
    if (!this.#active) return undefined
    if (!this.#options.defaults || !this.#blocks.isOpen(channel)) {
      const redacted = this.#words.redact(text, this.#counted)
      if (redacted !== undefined && this.#options.defaults) this.#blocks.begin(text, channel)
      return redacted
    }
    const end = this.#blocks.continue(text, channel)
    if (end === undefined) return marker
    const rest = text.slice(end)
    this.#blocks.begin(rest, channel)
    return marker + this.text(rest)
  }

  /** Free text: a label, a note, metadata, the text of an error. */
  text(text: string): string {
    return this.#words.redact(text, this.#counted) ?? text
  }

  /** A command line: also the values of flags and variables with secret names. */
  command(argv: readonly string[]): string[] {
    return redactCommand(argv, this.#options.defaults, this.#counted, (text) => this.text(text))
  }

  /** A URL: also its user's password, and parameters with secret names. */
  url(url: string): string {
    return this.text(this.#options.defaults ? redactUrl(url, this.#http) : url)
  }

  /** Headers of HTTP. */
  headers(headers: HttpHeaders): HttpHeaders {
    const known = this.#knownHeaders.get(headers)
    if (known) return this.#again(known)
    this.#heard = []
    const safe = this.#options.defaults
      ? redactHeaders(headers, this.#http)
      : plainHeaders(headers, (text) => this.text(text))
    return this.#remember(this.#knownHeaders, headers, safe)
  }

  /** Path and query of a request. */
  path(path: string): string {
    if (path.length > longestKnown) return this.#pathWithout(path)
    const known = this.#knownPaths.get(path)
    if (known) return this.#again(known)
    this.#heard = []
    const safe = this.#pathWithout(path)
    return this.#remember(this.#knownPaths, path, safe)
  }

  #again<T>({ made, counted }: Again<T>): T {
    for (const rule of counted) this.#counted(rule)
    return made
  }

  #remember<Key, T>(known: Map<Key, Again<T>>, key: Key, made: T): T {
    if (known.size >= mostKnown) known.clear()
    known.set(key, { made, counted: this.#heard ?? [] })
    this.#heard = undefined
    return made
  }

  #pathWithout(path: string): string {
    if (!this.#options.defaults) return this.text(path)
    const at = path.indexOf('?')
    const place = redactPathKeys(at === -1 ? path : path.slice(0, at), this.#http)
    return this.text(at === -1 ? place : `${place}?${redactParameters(path.slice(at + 1), this.#http)}`)
  }

  /** Like `path`, where any part may be a session: the address to which clients of HTTP+SSE must POST. */
  endpoint(path: string): string {
    return this.text(this.#options.defaults ? redactEndpoint(path, this.#http) : path)
  }

  /** A form (`application/x-www-form-urlencoded`), as used by OAuth. */
  form(text: string): string {
    return this.text(this.#options.defaults ? redactParameters(text, this.#http) : text)
  }

  report(): RedactionReport {
    return [...this.#counts].map(([rule, count]) => ({ rule, count }))
  }

  #wholeValues(raw: string): ReadonlyMap<number, WholeValue> {
    const whole = findTooDeep(raw)
    try {
      for (const rule of this.#pathRules) rule.find(raw, whole)
      return whole
    } catch (problem) {
      if (!(problem instanceof TooManyMarks)) throw problem
      return payloadsOf(raw, tooManyRule)
    }
  }

  /** With too many secrets, first the payloads are redacted as a whole, then entire messages. */
  #redactAll(raw: string, trigger: number, whole: ReadonlyMap<number, WholeValue>): RedactedJson | undefined {
    for (const values of [() => whole, () => payloadsOf(raw, tooManyRule)]) {
      const fired: string[] = []
      try {
        const found = (rule: string): void => void fired.push(rule)
        const redacted = redactJson(raw, {
          trigger,
          text: this.#words,
          whole: values(),
          counted: found,
          tag: this.#options.tag,
        })
        for (const rule of fired) this.#counted(rule)
        return redacted
      } catch (problem) {
        if (!(problem instanceof TooManyMarks)) throw problem
      }
    }
    const values = messagesOf(raw, tooManyRule)
    return redactJson(raw, {
      trigger: Infinity,
      text: this.#words,
      whole: values,
      counted: this.#counted,
      tag: this.#options.tag,
    })
  }
}

function plainHeaders(headers: HttpHeaders, redactText: (text: string) => string): HttpHeaders {
  return headers.map(([name, value]) => [name, redactText(value)] as const)
}
