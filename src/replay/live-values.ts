import type { CompiledPath } from '../json-path/index.js'
import { redactionMarker, restoreEdits } from '../redaction/index.js'
import {
  elementsOf,
  jsonIn,
  kindAt,
  membersOf,
  pointerStep,
  spliceText,
  type Span,
  type TextEdit,
} from '../wire/index.js'
import type { GivenValue } from './given-values.js'
import { KnownValues, looksMade } from './known-values.js'
import type { Mark } from './mark.js'
import { NotedValues } from './noted-values.js'
import { isScalar, partOf, plain } from './value-texts.js'

/** Deeper values are not replaced. */
const deepest = 256

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

/** Redacted values, as JSON text, by tag. */
export type Secrets = ReadonlyMap<string, string>

export function createLiveValues(sets: readonly SetValue[], secrets: Secrets = new Map()): LiveValues {
  const known = new KnownValues(secrets)
  const given = new NotedValues()
  for (const [tag, value] of secrets) given.note(plain(value), redactionMarker, tag)
  return {
    learn: (recorded, marks, live) => known.learn(recorded, marks, live),
    apply(recorded, marks) {
      const whole = jsonIn(recorded)
      if (!whole) return { text: recorded, kept: recorded, replaced: [], threaded: new Map(), missing: [] }
      return new MessageWalk({ recorded, marks, sets, secrets, known, given }).run(whole)
    },
    given: () => given.list(),
  }
}

interface WalkedMessage {
  readonly recorded: string
  readonly marks: readonly Mark[]
  readonly sets: readonly SetValue[]
  readonly secrets: Secrets
  readonly known: KnownValues
  readonly given: NotedValues
}

/** Replaces values of one message. */
class MessageWalk {
  readonly #message: WalkedMessage
  readonly #edits: (TextEdit & { at: string; isSet?: true })[] = []
  readonly #missing: string[] = []
  readonly #threaded = new Map<string, string>()
  /** Values of `--set`, by where the recorded value starts. */
  readonly #sets = new Map<number, Pick<SetValue, 'json' | 'tags'>>()
  /** Tags of redacted values, by JSON Pointer. */
  readonly #tags = new Map<string, string[]>()

  constructor(message: WalkedMessage) {
    this.#message = message
  }

  run(whole: Span): LiveText {
    const { recorded, marks, sets } = this.#message
    for (const set of sets)
      for (const { start, end } of set.path.find(recorded, whole))
        if (!set.onlyRedacted || recorded.slice(start, end).includes(redactionMarker))
          this.#sets.set(start, set)
    for (const { at, tag } of marks) this.#tags.set(at, [...(this.#tags.get(at) ?? []), tag])
    this.#visit(whole.start, whole.end, '', 0)
    const sorted = this.#edits.toSorted((a, b) => a.start - b.start)
    const text = spliceText(recorded, sorted)
    const own = sorted.filter(({ isSet }) => !isSet)
    const kept = own.length === sorted.length ? text : spliceText(recorded, own)
    const replaced = [...new Set(sorted.map(({ at }) => at))]
    return { text, kept, replaced, threaded: this.#threaded, missing: this.#missing }
  }

  #visit(start: number, end: number, at: string, depth: number, name = ''): void {
    const { recorded } = this.#message
    const tags = this.#tags.get(at)
    const set = this.#sets.get(start)
    if (set && (!set.tags || (tags ?? []).some((tag) => set.tags!.has(tag))))
      return this.#set(start, end, at, set.json)
    if (tags) return this.#restore(start, end, at, tags)
    if (depth > deepest) return
    const kind = kindAt(recorded, start)
    if (kind === 'object') {
      for (const member of membersOf(recorded, start))
        this.#visit(member.start, member.end, at + pointerStep(member.name), depth + 1, member.name)
    } else if (kind === 'array') {
      for (const [i, element] of elementsOf(recorded, start).entries())
        this.#visit(element.start, element.end, `${at}/${i}`, depth + 1, name)
    } else this.#thread(start, end, at, name)
  }

  #set(start: number, end: number, at: string, json: string): void {
    const { recorded, known, given } = this.#message
    const written = recorded.slice(start, end)
    const tags = this.#tags.get(at) ?? []
    for (const tag of tags) known.setSecret(tag, partOf(written, json) ?? json)
    given.noteSet(written, json, tags[0])
    this.#edits.push({ start, end, text: json, at, isSet: true })
  }

  #restore(start: number, end: number, at: string, tags: readonly string[]): void {
    const { recorded, known, secrets } = this.#message
    const restored = restoreEdits(recorded, { start, end }, tags, known.secret)
    if (restored.isMissing) this.#missing.push(at)
    else {
      const isSet = tags.some((tag) => secrets.has(tag)) && ({ isSet: true } as const)
      this.#edits.push(...restored.edits.map((edit) => ({ ...edit, at, ...isSet })))
    }
  }

  /** Replaces a value that the server made. */
  #thread(start: number, end: number, at: string, name: string): void {
    const { recorded, known } = this.#message
    const text = recorded.slice(start, end)
    const isMade = looksMade(text)
    const found = isMade ? undefined : this.#namedValue(text, at, name)
    if (found !== undefined) {
      if (found !== text) this.#edits.push({ start, end, text: found, at })
      return
    }
    const isServers = isMade && known.isOfServer(text)
    if (!givenBack.test(at) && !(isServers && at.startsWith('/params/'))) return
    const live = known.liveOf(text)
    if (live === undefined) return
    this.#edits.push({ start, end, text: live, at })
    if (kindAt(text, 0) === 'string') this.#threaded.set(text, live)
  }

  /** The value of this run, if the place marks it as an id. */
  #namedValue(text: string, at: string, name: string): string | undefined {
    if (!at.startsWith('/params/arguments/') || !isScalar(text)) return undefined
    const other = this.#message.known.liveOfNamed(name, plain(text))
    if (other === undefined) return undefined
    if (text.startsWith('"')) return JSON.stringify(other)
    return /^\d+$/.test(other) ? other : undefined
  }
}
