import { diffJson, toPointer, withJsonInTexts } from '../compare/index.js'
import { createRecent, detach } from '../model/index.js'
import { jsonIn, pointerSteps, valueAt, type Span } from '../wire/index.js'
import { pairMadeWords } from './made-words.js'
import type { Mark } from './mark.js'
import { createNamedValues } from './named-values.js'
import { eachString, isScalar, partOf, plain } from './value-texts.js'

/** At least this many of the most recent values are remembered, and all those in use. */
const mostRemembered = 50_000
/** Characters of responses that are kept for a later look. */
const mostUnread = 1 << 20
const mostDifferences = 1_000
/** Ids, handles and paths are never longer. */
const longestMade = 4096

/**
 * Strings that a person would not write twice by chance. An argument's value that the server sent before is taken
 * for the server's value only if it looks like an id, a handle or a path that the server made.
 */
export function looksMade(text: string): boolean {
  const { length } = text
  return text.startsWith('"') && length >= 10 && length <= longestMade && /\d/.test(text) && !/\s/.test(text)
}

/** Values of the server in this run, known from its messages so far. */
export class KnownValues {
  /** Live JSON text by the recorded one. */
  readonly #byText = createRecent<string>({ entries: mostRemembered })
  /** By tag: the live text behind the marker, without quotes where it is a part of a string. */
  readonly #byTag: Map<string, string>
  /** Recorded texts that look made, by the side that sent them first: the client keeps values of its own. */
  readonly #origin = createRecent<'client' | 'server'>({ entries: mostRemembered })
  readonly #named = createNamedValues()
  /** Texts of the server not yet searched: searched once the client sends a value that may come from them. */
  #unread: string[] = []
  #unreadLength = 0

  /** @param secrets JSON text by tag */
  constructor(secrets: ReadonlyMap<string, string>) {
    this.#byTag = new Map(secrets)
  }

  /** A redacted value. */
  readonly secret = (tag: string): string | undefined => this.#byTag.get(tag)

  setSecret(tag: string, value: string): void {
    this.#byTag.set(tag, value)
  }

  /** Learns from a response, or from a request of the server. */
  learn(recorded: string, marks: readonly Mark[], live: string): void {
    const [a, b] = [jsonIn(recorded), jsonIn(live)]
    if (!a) return
    this.#unread.push(recorded.slice(a.start, a.end))
    this.#unreadLength += a.end - a.start
    if (this.#unreadLength > mostUnread) this.#readUp()
    if (!b || (recorded === live && marks.length === 0)) return
    for (const { at, tag } of marks) {
      const steps = pointerSteps(at)
      const [written, said] = [valueAt(recorded, a.start, steps), valueAt(live, b.start, steps)]
      const secret = written && said && partOf(spanText(recorded, written), spanText(live, said))
      if (secret !== undefined) this.#byTag.set(tag, secret)
    }
    const marked = new Set(marks.map(({ at }) => at))
    const { differences } = diffJson(recorded, a, live, b, { most: mostDifferences })
    for (const { kind, place, before, after } of differences) {
      if (kind !== 'changed' || before === undefined || after === undefined) continue
      if (marked.has(toPointer(place)) || !isScalar(before) || !isScalar(after)) continue
      this.#remember(before, after)
      const name = place.findLast((step) => typeof step === 'string')
      this.#named.learn(name, plain(before), plain(after))
      this.#rememberWords(before, after)
    }
  }

  /** The value of this run for a recorded text; undefined if unknown or the same. */
  liveOf(recorded: string): string | undefined {
    const live = this.#byText.get(recorded)
    if (live === undefined || live === recorded) return undefined
    // Values in use are not forgotten.
    this.#byText.set(detach(recorded), live)
    return live
  }

  /** The value of this run for a value of a member that holds ids. */
  liveOfNamed(name: string, recorded: string): string | undefined {
    return this.#named.liveOf(name, recorded)
  }

  /** Whether the server sent a text that looks made before the client did; the client sends it now. */
  isOfServer(text: string): boolean {
    this.#readUp()
    const known = this.#origin.get(text) ?? (this.#byText.get(text) === undefined ? 'client' : 'server')
    // Values in use are not forgotten.
    this.#origin.set(detach(text), known)
    return known === 'server'
  }

  #readUp(): void {
    const texts = this.#unread
    this.#unread = []
    this.#unreadLength = 0
    for (const json of texts) eachString(withJsonInTexts(json), (text) => this.#sawOfServer(text))
  }

  #sawOfServer(text: string): void {
    if (looksMade(text) && this.#origin.get(text) === undefined) this.#origin.set(detach(text), 'server')
  }

  /** Stores copies: a slice would keep the whole message in memory. */
  #remember(recorded: string, live: string): void {
    this.#byText.set(detach(recorded), detach(live))
  }

  /** Finds values within sentences: most servers respond in sentences. */
  #rememberWords(before: string, after: string): void {
    if (!before.startsWith('"') || !after.startsWith('"')) return
    for (const [word, other] of pairMadeWords(plain(before), plain(after), (one) => looksMade(`"${one}"`))) {
      const text = JSON.stringify(word)
      this.#sawOfServer(text)
      this.#remember(text, JSON.stringify(other))
    }
  }
}

function spanText(text: string, { start, end }: Span): string {
  return text.slice(start, end)
}
