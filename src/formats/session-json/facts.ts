import type { JsonMembers } from '../../model/index.js'
import { jsonIn, JsonObject, onOneLine, type JsonPath } from '../../wire/index.js'
import type { Input, Seen } from '../format.js'
import { isInMetadata, isMessages, isNotes, walk, type Walk } from './document.js'
import { Members } from './members.js'
import type { NoteText } from './read-notes.js'
import { notesVersion } from './write.js'

/** Data of a session file other than its messages. */
export interface Facts {
  /** Top-level members without `messages`, and without `metadata` when it is an object. */
  readonly top: Members
  /** All top-level names, and the repeated ones. */
  readonly names: ReadonlySet<string>
  readonly repeated: ReadonlySet<string>
  readonly messages: 'array' | 'other'
  readonly metadata: JsonMembers
  /** The contents of `metadata.wiretape`. Undefined when wiretape did not write it. */
  readonly own: OwnFacts | undefined
  /** Problem of `metadata.wiretape`. */
  readonly problem: string | undefined
}

export interface OwnFacts {
  readonly meta: JsonObject | undefined
  readonly end: JsonObject | undefined
  /** Members that lines of the tape lack, unless a note states otherwise. */
  readonly without: readonly string[]
  readonly hasNotes: boolean
  /** All notes. Undefined when there are too many to hold: the file is then read again for them. */
  readonly notes: readonly NoteText[] | undefined
}

/** Characters of notes that are held, each counted with a surcharge. */
const mostNotes = 8_000_000
const noteSize = 50

/** Facts of files that are read again. */
const known = new WeakMap<Seen, Facts>()

/** Reads the whole file on the first call, and keeps everything but the messages. */
export async function factsOf(input: Pick<Input, 'bytes' | 'seen'>): Promise<Facts> {
  const before = input.seen && known.get(input.seen)
  const facts = before ?? (await readFacts(input))
  if (input.seen) known.set(input.seen, facts)
  return facts
}

async function readFacts(input: Pick<Input, 'bytes'>): Promise<Facts> {
  const read = await collect(input, true)
  const { own } = read
  if (!read.hasOwn) return factsFrom(read, undefined)
  const version = own.get('version')
  if (version !== String(notesVersion)) {
    const whole = await collect(input, false)
    const said = version === undefined ? 'no version' : `version ${version.slice(0, 40)}`
    return factsFrom(
      whole,
      undefined,
      `metadata.wiretape has ${said}, but wiretape reads version ${notesVersion}: it is kept unchanged`,
    )
  }
  const displaced = own.get('displaced')
  if (displaced !== undefined) read.metadata.add('wiretape', displaced)
  const wrong = ['meta', 'end', 'lines'].filter(
    (name) => own.get(name) !== undefined && (name === 'lines' || !objectOf(own.get(name))),
  )
  if (own.get('without') !== undefined && !namesIn(own.get('without'))) wrong.push('without')
  return factsFrom(
    read,
    {
      meta: objectOf(own.get('meta')),
      end: objectOf(own.get('end')),
      without: namesIn(own.get('without')) ?? [],
      hasNotes: read.hasNotes,
      notes: read.notes,
    },
    wrong.length === 0
      ? undefined
      : `${wrong.map((name) => `metadata.wiretape.${name}`).join(', ')} is not valid and is left out`,
  )
}

interface Collected {
  readonly top: Members
  readonly names: ReadonlySet<string>
  readonly repeated: ReadonlySet<string>
  readonly messages: Facts['messages']
  readonly metadata: Members
  /** Members of `metadata.wiretape` without `lines`. */
  readonly own: Members
  readonly hasOwn: boolean
  readonly hasNotes: boolean
  readonly notes: readonly NoteText[] | undefined
}

function factsFrom(read: Collected, own: OwnFacts | undefined, problem?: string): Facts {
  const { top, names, repeated, messages } = read
  return { top, names, repeated, messages, metadata: [...read.metadata], own, problem }
}

/** @param opensOwn false treats `metadata.wiretape` like any other value */
async function collect(input: Pick<Input, 'bytes'>, opensOwn: boolean): Promise<Collected> {
  const top = new Members()
  const metadata = new Members()
  const own = new Members()
  const names = new Set<string>()
  const repeated = new Set<string>()
  let messages: Facts['messages'] = 'other'
  let hasOwn = false
  let hasNotes = false
  let notes: NoteText[] | undefined = []
  let notesSize = 0

  function see(path: JsonPath): void {
    if (path.length !== 1) return
    const name = String(path[0])
    if (names.has(name)) repeated.add(name)
    names.add(name)
  }

  function keep(note: NoteText): void {
    notesSize += (note?.length ?? 0) + noteSize
    if (notesSize > mostNotes) notes = undefined
    notes?.push(note)
  }

  const facts: Walk = {
    opens(path, kind) {
      const opened =
        path.length === 0 ||
        isMessages(path, kind) ||
        (isInMetadata(path, kind) && (opensOwn || path.length < 2))
      if (opened) see(path)
      if (opened && isMessages(path, kind)) messages = 'array'
      if (opened && path.length === 2) hasOwn = true
      if (opened && isNotes(path)) hasNotes = true
      return opened
    },
    skips: (path) => (path.length === 2 && path[0] === 'messages') || (notes === undefined && isNote(path)),
  }
  for await (const piece of walk(input, facts)) {
    const { path, text, fault } = piece
    if (isNote(path) || (fault !== undefined && path.length >= 3))
      keep(fault === undefined ? text : undefined)
    if (isNote(path)) continue
    if (fault !== undefined || jsonIn(text) === undefined) continue
    see(path)
    const [name, second, third] = path
    const value = onOneLine(text)
    if (path.length === 1) top.add(String(name), value)
    else if (path.length === 2 && name === 'metadata') metadata.add(String(second), value)
    else if (path.length === 3 && second === 'wiretape') own.add(String(third), value)
  }
  return { top, names, repeated, messages, metadata, own, hasOwn, hasNotes, notes }
}

function isNote(path: JsonPath): boolean {
  return path.length === 4 && isNotes(path.slice(0, 3))
}

/** A list of names. */
function namesIn(json: string | undefined): string[] | undefined {
  const value: unknown = json === undefined ? undefined : JSON.parse(json)
  return Array.isArray(value) && value.every((name) => typeof name === 'string') ? value : undefined
}

/** An object, or a string of it where it exceeds the limits of other readers. */
function objectOf(json: string | undefined): JsonObject | undefined {
  if (json === undefined) return undefined
  const text = json.startsWith('"') ? (JSON.parse(json) as string) : json
  return JsonObject.in(text)
}
