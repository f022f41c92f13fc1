import type { HttpHeaders } from '../model/index.js'
import { redactCommand } from './command.js'
import { Credentials } from './credentials.js'
import { CleanHeaders, redactEndpoint, redactHeaders, redactParameters, redactPathKeys } from './http.js'
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

/** Redacts the data of one recording, and counts findings. */
export interface Redactor {
  /** For the tape's first line. */
  readonly name: 'none' | 'defaults' | 'defaults+rules' | 'rules'
  /**
   * One frame's JSON text, a message or a batch, accepted by findJsonValue. Undefined, as usual, if there are no
   * secrets: the text can be kept unchanged.
   */
  json(raw: string): RedactedJson | undefined
  /**
   * Whether `json` would certainly find no secrets in the text with these UTF-8 bytes; no text is created. The caller
   * must have checked that it is nested less than 1,000 deep.
   */
  isClean(bytes: Uint8Array, start: number, end: number): boolean
  /**
   * One line of stderr, or one that is not a message, without its line end. A private key that began in an earlier line
   * of the same `channel` continues to its end, for at most 500 lines. Undefined: no secrets.
   */
  line(text: string, channel: string): string | undefined
  /** Free text: a label, a note, metadata, the text of an error. */
  text(text: string): string
  /** A command line: also the values of flags and variables with secret names. */
  command(argv: readonly string[]): string[]
  /** A URL: also its user's password, and parameters with secret names. */
  url(url: string): string
  /** Headers of HTTP. */
  headers(headers: HttpHeaders): HttpHeaders
  /** Path and query of a request. */
  path(path: string): string
  /** Like `path`, where any part may be a session: the address to which clients of HTTP+SSE must POST. */
  endpoint(path: string): string
  /** A form (`application/x-www-form-urlencoded`), as used by OAuth. */
  form(text: string): string
  report(): RedactionReport
}

export interface RedactorOptions {
  /** The built-in rules. */
  readonly defaults: boolean
  readonly rules?: readonly CompiledRule[]
  /** A tag for a secret, equal for equal secrets: an HMAC under a key that is discarded after the run. */
  readonly tag: (secret: string) => string
}

const nothingWhole: ReadonlyMap<number, WholeValue> = new Map()

/** A redactor for one recording. Holds counts, channels with an open private key, and headers without secrets. */
export function createRedactor({ defaults, rules = [], tag }: RedactorOptions): Redactor {
  const counts = new Map<string, number>()
  let total = 0
  const counted = (rule: string): void => {
    total += 1
    counts.set(rule, (counts.get(rule) ?? 0) + 1)
  }
  const textRules = rules.filter((rule) => rule.kind === 'text')
  const pathRules = rules.filter((rule) => rule.kind === 'path')
  const words = new TextRedactor(defaults, textRules)
  const blocks = new KeyBlocks()
  const active = defaults || rules.length > 0
  const redactText = (text: string): string => words.redact(text, counted) ?? text
  const credentials = new Credentials(tag)
  const http = {
    counted,
    text: redactText,
    credential: (secret: string) => credentials.factsOf(secret),
    always: textRules.length > 0,
    total: () => total,
    clean: new CleanHeaders(),
  }

  function wholeValues(raw: string): ReadonlyMap<number, WholeValue> {
    const whole = findTooDeep(raw)
    try {
      for (const rule of pathRules) rule.find(raw, whole)
      return whole
    } catch (problem) {
      if (!(problem instanceof TooManyMarks)) throw problem
      return payloadsOf(raw, tooManyRule)
    }
  }

  /** With too many secrets, first the payloads are redacted as a whole, then entire messages. */
  function redactAll(
    raw: string,
    trigger: number,
    whole: ReadonlyMap<number, WholeValue>,
  ): RedactedJson | undefined {
    for (const values of [() => whole, () => payloadsOf(raw, tooManyRule)]) {
      const fired: string[] = []
      try {
        const found = (rule: string): void => void fired.push(rule)
        const redacted = redactJson(raw, { trigger, text: words, whole: values(), counted: found, tag })
        for (const rule of fired) counted(rule)
        return redacted
      } catch (problem) {
        if (!(problem instanceof TooManyMarks)) throw problem
      }
    }
    const values = messagesOf(raw, tooManyRule)
    return redactJson(raw, { trigger: Infinity, text: words, whole: values, counted, tag })
  }

  return {
    name: defaults ? (rules.length > 0 ? 'defaults+rules' : 'defaults') : rules.length > 0 ? 'rules' : 'none',
    json(raw) {
      if (!active) return undefined
      const whole = raw.length > 40_000 || pathRules.length > 0 ? wholeValues(raw) : nothingWhole
      const found = defaults ? findTrigger(raw, 0) : -1
      if (found < 0 && whole.size === 0 && textRules.length === 0) return undefined
      return redactAll(raw, found < 0 ? Infinity : found, whole)
    },
    isClean(bytes, start, end) {
      if (!active) return true
      return rules.length === 0 && !bytesHaveTrigger(bytes, start, end)
    },
    line(text, channel) {
      if (!active) return undefined
      if (!defaults || !blocks.isOpen(channel)) {
        const redacted = words.redact(text, counted)
        if (redacted !== undefined && defaults) blocks.begin(text, channel)
        return redacted
      }
      const end = blocks.continue(text, channel)
      if (end === undefined) return marker
      const rest = text.slice(end)
      blocks.begin(rest, channel)
      return marker + redactText(rest)
    },
    text: redactText,
    command: (argv) => redactCommand(argv, defaults, counted, redactText),
    url: (url) => redactText(defaults ? redactUrl(url, http) : url),
    headers: (headers) => (defaults ? redactHeaders(headers, http) : plainHeaders(headers, redactText)),
    path(path) {
      if (!defaults) return redactText(path)
      const at = path.indexOf('?')
      const place = redactPathKeys(at === -1 ? path : path.slice(0, at), http)
      return redactText(at === -1 ? place : `${place}?${redactParameters(path.slice(at + 1), http)}`)
    },
    endpoint: (path) => redactText(defaults ? redactEndpoint(path, http) : path),
    form: (text) => redactText(defaults ? redactParameters(text, http) : text),
    report: () => [...counts].map(([rule, count]) => ({ rule, count })),
  }
}

function plainHeaders(headers: HttpHeaders, redactText: (text: string) => string): HttpHeaders {
  return headers.map(([name, value]) => [name, redactText(value)] as const)
}
