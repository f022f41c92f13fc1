import type { Draft, HttpContext, SseContext, TapeClosing, TapeRecord } from '../model/index.js'
import type { MessagePlace } from '../tape/index.js'
import type { Redactor } from '../redaction/index.js'

const longestRemembered = 200
const mostRemembered = 1_000
const mostLists = 100

/**
 * The last redaction of every record on its way to the tape: removes secrets from all strings, including those that
 * nothing else checks (fields of events, methods, reasons, names of rules). Redacted texts stay unchanged, because a
 * marker is not a secret. Messages (`raw`, `original`, `bytes`) and lines (`text`, `bytes` of noise and stderr) are
 * redacted only at their source: messages by structure, lines by channel, because a private key spans several lines.
 * Our own ids and numbers are left alone.
 */
export function createRecordGuard(redactor: Redactor): RecordGuard {
  if (redactor.name === 'none') return { take: (record) => record, place: (place) => place }
  return new Guard(redactor)
}

export interface RecordGuard {
  take(record: TapeRecord): TapeRecord
  /** For the place of a plain message. */
  place(place: MessagePlace): MessagePlace
}

class Guard implements RecordGuard {
  readonly #redactor: Redactor
  /** Short texts without secrets. Headers repeat them in every exchange. */
  readonly #clean = new Set<string>()
  /** Header lists without secrets. Equal heads share one list. */
  readonly #cleanLists = new Set<object>()

  constructor(redactor: Redactor) {
    this.#redactor = redactor
  }

  take(record: TapeRecord): TapeRecord {
    switch (record.type) {
      case 'message':
      case 'held': {
        const { sse, http, rule } = record
        if (sse === undefined && http === undefined && rule === undefined) return record
        // Changed in place, because this runs for every message, and no other code has the record.
        const draft: Draft<typeof record> = record
        if (sse !== undefined) draft.sse = this.#sseOf(sse)
        if (rule !== undefined) draft.rule = this.#text(rule)
        if (http !== undefined) draft.http = this.#contextOf(http)
        return record
      }
      case 'http': {
        const { sse, why, method, path, requestHeaders, requestBody, headers, body } = record
        return {
          ...record,
          method: this.#text(method),
          path: this.#text(path),
          ...(requestHeaders !== undefined && { requestHeaders: this.#headersOf(requestHeaders) }),
          ...(requestBody !== undefined && { requestBody: this.#text(requestBody) }),
          ...(headers !== undefined && { headers: this.#headersOf(headers) }),
          ...(body !== undefined && { body: this.#text(body) }),
          ...(why !== undefined && { why: this.#text(why) }),
          ...(sse !== undefined && { sse: this.#sseOf(sse) }),
        }
      }
      case 'dropped':
        return {
          ...record,
          why: this.#text(record.why),
          ...(record.rule !== undefined && { rule: this.#text(record.rule) }),
        }
      case 'gap':
      case 'undelivered':
        return { ...record, why: this.#text(record.why) }
      case 'note':
        return { ...record, text: this.#text(record.text) }
      case 'end':
        return record.wiretape === undefined
          ? record
          : { ...record, wiretape: guardClosing(this.#redactor, record.wiretape) }
      case 'noise':
      case 'stderr':
        return record
      // Recorders never produce these two: `metaOf` writes the first line earlier, and unknown records are only read.
      case 'meta':
      case 'unknown':
        return record
    }
  }

  place({ conversation, http, sse }: MessagePlace): MessagePlace {
    return { conversation, http: this.#contextOf(http), sse: sse && this.#sseOf(sse) }
  }

  #text(words: string): string {
    if (this.#clean.has(words)) return words
    const safe = this.#redactor.text(words)
    if (safe === words && words.length <= longestRemembered) {
      if (this.#clean.size >= mostRemembered) this.#clean.clear()
      this.#clean.add(words)
    }
    return safe
  }

  /** Returns the same object when nothing changed, like the next two. Each text is redacted once: findings are counted. */
  #sseOf(sse: SseContext): SseContext {
    const event = sse.event === undefined ? undefined : this.#text(sse.event)
    const id = sse.id === undefined ? undefined : this.#text(sse.id)
    if (event === sse.event && id === sse.id) return sse
    return { ...sse, ...(event !== undefined && { event }), ...(id !== undefined && { id }) }
  }

  #contextOf(http: HttpContext): HttpContext {
    const method = http.method === undefined || http.method === 'POST' ? http.method : this.#text(http.method)
    const path = http.path === undefined ? undefined : this.#text(http.path)
    const headers = http.headers === undefined ? undefined : this.#headersOf(http.headers)
    if (method === http.method && path === http.path && headers === http.headers) return http
    return {
      ...http,
      ...(method !== undefined && { method }),
      ...(path !== undefined && { path }),
      ...(headers !== undefined && { headers }),
    }
  }

  #headersOf(headers: NonNullable<HttpContext['headers']>): NonNullable<HttpContext['headers']> {
    if (this.#cleanLists.has(headers)) return headers
    const safe = headers.map(([name, value]) => [this.#text(name), this.#text(value)] as const)
    if (!safe.every(([name, value], i) => name === headers[i]![0] && value === headers[i]![1])) return safe
    if (this.#cleanLists.size >= mostLists) this.#cleanLists.clear()
    this.#cleanLists.add(headers)
    return headers
  }
}

/** The same for the last line, to which the journal adds its own numbers. */
export function guardClosing<Closing extends Omit<TapeClosing, 'messages'>>(
  redactor: Redactor,
  closing: Closing,
): Closing {
  const { error, redacted } = closing
  return {
    ...closing,
    ...(error !== undefined && { error: redactor.text(error) }),
    ...(redacted !== undefined && {
      redacted: redacted.map(({ rule, count }) => ({ rule: redactor.text(rule), count })),
    }),
  }
}
