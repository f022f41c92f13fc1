import { diffJson, toPointer, withJsonInTexts } from '../compare/index.js'
import type { GivenValue } from './given-values.js'
import { pairMadeWords } from './made-words.js'
import { createNamedValues } from './named-values.js'
import type { CompiledPath } from '../json-path/index.js'
import { createRecent, detach } from '../model/index.js'
import { redactionMarker, restoreEdits } from '../redaction/index.js'
import {
  decodeString,
  elementsOf,
  findJsonValue,
  isFault,
  kindAt,
  membersOf,
  pointerSteps,
  spliceText,
  valueAt,
  type Span,
  type TextEdit,
} from '../wire/index.js'
import type { Mark } from './mark.js'

/** `--set`: a value for a place, in all messages that have the place. */
export interface SetValue {
  readonly path: CompiledPath
  /** The path as given. */
  readonly name: string
  /** The value as JSON text. */
  readonly json: string
  /** Only where a value was redacted. @default false: in every message that has the place */
  readonly onlyRedacted?: boolean
  /** Only where a value with one of these tags was redacted. @default any */
  readonly tags?: ReadonlySet<string>
}

/** A message with the values of this run. */
export interface LiveText {
  readonly text: string
  /** The same without values of `--set`, for a recording. */
  readonly kept: string
  /** JSON Pointers to replaced values. */
  readonly replaced: readonly string[]
  /** Live strings made by the server (as JSON text) by the recorded ones. */
  readonly threaded: ReadonlyMap<string, string>
  /** JSON Pointers to redacted values that are unknown in this run. */
  readonly missing: readonly string[]
}

/** Values that the server made differently in this run, for later messages that return them. */
export interface LiveValues {
  /** Learns from a response, or from a request of the server. */
  learn(recorded: string, marks: readonly Mark[], live: string): void
  /** All other characters stay as recorded. */
  apply(recorded: string, marks: readonly Mark[]): LiveText
  /** Values of `--set` used so far. */
  given(): readonly GivenValue[]
}

/** Places in the client's messages that hold values made by the server: cursors, states, task ids, tokens. */
const givenBack =
  /^\/params\/(?:cursor|requestState|taskId|progressToken|_meta\/io\.modelcontextprotocol~1related-task\/taskId)$|^\/result\/_meta\/io\.modelcontextprotocol~1related-task\/taskId$/

/** At least this many of the most recent values are remembered, and all those in use. */
const mostRemembered = 50_000
/** Characters of responses that are kept for a later look. */
const mostUnread = 1 << 20
const mostDifferences = 1_000
/** Ids, handles and paths are never longer. */
const longestMade = 4096

/** Redacted values, as JSON text, by tag. */
export type Secrets = ReadonlyMap<string, string>

export function createLiveValues(sets: readonly SetValue[], secrets: Secrets = new Map()): LiveValues {
  /** Live JSON text by the recorded one. */
  const byText = createRecent<string>({ entries: mostRemembered })
  /** By tag: the live text behind the marker, without quotes where it is a part of a string. */
  const byTag = new Map(secrets)

  /** Recorded texts that look made, by the side that sent them first: the client keeps values of its own. */
  const origin = createRecent<'client' | 'server'>({ entries: mostRemembered })

  function sawOfServer(text: string): void {
    if (looksMade(text) && origin.get(text) === undefined) origin.set(detach(text), 'server')
  }

  const named = createNamedValues()

  const given = new Map<string, GivenValue>()

  for (const [tag, value] of secrets) note(plain(value), redactionMarker, tag)

  /** Texts of the server not yet searched: searched once the client sends a value that may come from them. */
  let unread: string[] = []
  let unreadLength = 0

  function readUp(): void {
    const texts = unread
    unread = []
    unreadLength = 0
    for (const json of texts) eachString(withJsonInTexts(json), sawOfServer)
  }

  /** For a partly redacted string, only that part is the given value. */
  function noteGiven(written: string, set: string, tag: string | undefined): void {
    if (!isScalar(set)) {
      // Which part stood where is unknown.
      eachString(set, (json) => note(plain(json), redactionMarker, undefined))
      return
    }
    const part = tag === undefined ? undefined : partOf(written, set)
    note(plain(part ?? set), tag === undefined ? plain(written) : redactionMarker, tag)
  }

  function note(value: string, recorded: string, tag: string | undefined): void {
    if (given.has(value) || value === '') return
    given.set(value, { value, recorded, ...(tag !== undefined && { tag }) })
  }

  /** Stores copies: a slice would keep the whole message in memory. */
  function remember(recorded: string, live: string): void {
    byText.set(detach(recorded), detach(live))
  }

  /** Finds values within sentences: most servers respond in sentences. */
  function rememberWords(before: string, after: string): void {
    if (!before.startsWith('"') || !after.startsWith('"')) return
    for (const [word, other] of pairMadeWords(plain(before), plain(after), (one) => looksMade(`"${one}"`))) {
      const text = JSON.stringify(word)
      sawOfServer(text)
      remember(text, JSON.stringify(other))
    }
  }

  return {
    learn(recorded, marks, live) {
      const [a, b] = [wholeOf(recorded), wholeOf(live)]
      if (!a) return
      unread.push(recorded.slice(a.start, a.end))
      unreadLength += a.end - a.start
      if (unreadLength > mostUnread) readUp()
      if (!b || (recorded === live && marks.length === 0)) return
      for (const { at, tag } of marks) {
        const [written, said] = [
          valueAt(recorded, a.start, pointerSteps(at)),
          valueAt(live, b.start, pointerSteps(at)),
        ]
        const secret = written && said && partOf(spanText(recorded, written), spanText(live, said))
        if (secret !== undefined) byTag.set(tag, secret)
      }
      const marked = new Set(marks.map(({ at }) => at))
      for (const { kind, place, before, after } of diffJson(recorded, a, live, b, { most: mostDifferences })
        .differences) {
        if (kind !== 'changed' || before === undefined || after === undefined) continue
        if (marked.has(toPointer(place)) || !isScalar(before) || !isScalar(after)) continue
        remember(before, after)
        named.learn(
          place.findLast((step) => typeof step === 'string'),
          plain(before),
          plain(after),
        )
        rememberWords(before, after)
      }
    },

    apply(recorded, marks) {
      const whole = wholeOf(recorded)
      if (!whole) return { text: recorded, kept: recorded, replaced: [], threaded: new Map(), missing: [] }
      const edits: (TextEdit & { at: string; isSet?: true })[] = []
      const missing: string[] = []
      const threaded = new Map<string, string>()
      const setPlaces = new Map<number, Pick<SetValue, 'json' | 'tags'>>()
      for (const set of sets)
        for (const { start, end } of set.path.find(recorded, whole))
          if (!set.onlyRedacted || recorded.slice(start, end).includes(redactionMarker))
            setPlaces.set(start, set)
      const tags = new Map<string, string[]>()
      for (const { at, tag } of marks) tags.set(at, [...(tags.get(at) ?? []), tag])

      function visit(start: number, end: number, at: string, depth: number, name = ''): void {
        const place = setPlaces.get(start)
        const isMeant = !place?.tags || (tags.get(at) ?? []).some((tag) => place.tags!.has(tag))
        if (place && isMeant) {
          const set = place.json
          const written = recorded.slice(start, end)
          for (const tag of tags.get(at) ?? []) byTag.set(tag, partOf(written, set) ?? set)
          noteGiven(written, set, tags.get(at)?.[0])
          edits.push({ start, end, text: set, at, isSet: true })
          return
        }
        const kind = kindAt(recorded, start)
        if (tags.has(at)) return restore(start, end, at, tags.get(at)!)
        if (depth > deepest) return
        if (kind === 'object') {
          for (const member of membersOf(recorded, start))
            visit(member.start, member.end, at + step(member.name), depth + 1, member.name)
        } else if (kind === 'array') {
          for (const [i, element] of elementsOf(recorded, start).entries())
            visit(element.start, element.end, `${at}/${i}`, depth + 1, name)
        } else thread(start, end, at, name)
      }

      /** The value of this run, if the place marks it as an id. */
      function liveOf(text: string, at: string, name: string): string | undefined {
        if (!at.startsWith('/params/arguments/') || !isScalar(text)) return undefined
        const other = named.liveOf(name, plain(text))
        if (other === undefined) return undefined
        if (text.startsWith('"')) return JSON.stringify(other)
        return /^\d+$/.test(other) ? other : undefined
      }

      function thread(start: number, end: number, at: string, name: string): void {
        const text = recorded.slice(start, end)
        const found = looksMade(text) ? undefined : liveOf(text, at, name)
        if (found !== undefined) {
          if (found !== text) edits.push({ start, end, text: found, at })
          return
        }
        const isMade = looksMade(text)
        if (isMade) {
          readUp()
          const known = origin.get(text) ?? (byText.get(text) === undefined ? 'client' : 'server')
          // Values in use are not forgotten.
          origin.set(detach(text), known)
        }
        if (!givenBack.test(at) && !(isMade && at.startsWith('/params/') && origin.get(text) !== 'client'))
          return
        const live = byText.get(text)
        if (live === undefined || live === text) return
        byText.set(detach(text), live)
        edits.push({ start, end, text: live, at })
        if (kindAt(text, 0) === 'string') threaded.set(text, live)
      }

      function restore(start: number, end: number, at: string, tagsHere: readonly string[]): void {
        const restored = restoreEdits(recorded, { start, end }, tagsHere, (tag) => byTag.get(tag))
        if (restored.isMissing) missing.push(at)
        else {
          const isSet = tagsHere.some((tag) => secrets.has(tag)) && ({ isSet: true } as const)
          edits.push(...restored.edits.map((edit) => ({ ...edit, at, ...isSet })))
        }
      }

      visit(whole.start, whole.end, '', 0)
      const sorted = edits.toSorted((a, b) => a.start - b.start)
      const text = spliceText(recorded, sorted)
      const own = sorted.filter(({ isSet }) => !isSet)
      const kept = own.length === sorted.length ? text : spliceText(recorded, own)
      return { text, kept, replaced: [...new Set(sorted.map(({ at }) => at))], threaded, missing }
    },

    given: () => [...given.values()],
  }
}

const deepest = 256

/**
 * Strings that a person would not write twice by chance. An argument's value that the server sent before is taken
 * for the server's value only if it looks like an id, a handle or a path that the server made.
 */
function looksMade(text: string): boolean {
  const { length } = text
  return text.startsWith('"') && length >= 10 && length <= longestMade && /\d/.test(text) && !/\s/.test(text)
}

function eachString(json: string, take: (text: string) => void): void {
  function visit({ start, end }: Span, depth: number): void {
    const kind = kindAt(json, start)
    if (kind === 'string') take(json.slice(start, end))
    else if (depth === deepest) return
    else if (kind === 'object') for (const member of membersOf(json, start)) visit(member, depth + 1)
    else if (kind === 'array') for (const element of elementsOf(json, start)) visit(element, depth + 1)
  }
  visit({ start: 0, end: json.length }, 0)
}

function isScalar(text: string): boolean {
  const kind = kindAt(text, 0)
  return kind === 'string' || kind === 'number'
}

/** The live text behind the marker in a recorded string; undefined when the rest differs. */
function partOf(written: string, said: string): string | undefined {
  if (written === `"${redactionMarker}"`) return said
  if (!written.startsWith('"') || !said.startsWith('"')) return undefined
  const [before, after, ...more] = decodeString(written, 0, written.length).split(redactionMarker)
  const live = decodeString(said, 0, said.length)
  if (before === undefined || after === undefined || more.length > 0) return undefined
  if (!live.startsWith(before) || !live.endsWith(after) || live.length < before.length + after.length)
    return undefined
  return JSON.stringify(live.slice(before.length, live.length - after.length))
}

/** A string without quotes and escapes; other values as text. */
function plain(json: string): string {
  return kindAt(json, 0) === 'string' ? decodeString(json, 0, json.length) : json
}

function wholeOf(text: string): Span | undefined {
  const found = findJsonValue(text)
  return isFault(found) ? undefined : { start: found.start, end: found.end }
}

function spanText(text: string, { start, end }: Span): string {
  return text.slice(start, end)
}

function step(name: string): string {
  return /[~/]/.test(name) ? `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}` : `/${name}`
}
