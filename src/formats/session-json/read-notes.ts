import type { Report, TapeRecord } from '../../model/index.js'
import { JsonObject, jsonObjectIn, onOneLine, type JsonPiece } from '../../wire/index.js'
import { decodeLine } from '../trace-v1/index.js'

/** Element of `metadata.wiretape.lines` for the entry with that number, or the batch that starts there. */
export interface FrameNote {
  /** `proxy_id` of the entry. */
  readonly id: string
  /** Members of the tape's line. */
  readonly line: JsonObject
  /** Members that the line lacked. */
  readonly without: readonly string[]
  /** For a batch: its text before, between and after the entries. */
  readonly between: readonly string[] | undefined
}

type Note = { readonly at: number } & ({ readonly record: TapeRecord } | { readonly frame: FrameNote })

/** The text of a note; undefined for invalid JSON. */
export type NoteText = string | undefined

/** Notes on an entry. */
export interface Said {
  /** The lines that precede it. */
  readonly before: readonly TapeRecord[]
  readonly frame?: FrameNote
}

/** The notes in step with the messages: both are in the order of the tape. */
interface NotesInStep {
  /**
   * The notes on an entry. Entries must be requested in file order.
   *
   * @param id its `proxy_id`; undefined for an unreadable entry
   */
  next(number: number, id: string | undefined): Needing<Said>
  /** The next line after the last message; undefined for none. */
  rest(): Needing<TapeRecord | undefined>
}

/** Yields to request the next note, and is resumed with it; with undefined after the last. */
type Needing<T> = Generator<undefined, T, { readonly text: NoteText } | undefined>

/** Notes held in memory. */
export interface HeldNotes {
  next(number: number, id: string | undefined): Said
  /** Lines after the last message. */
  rest(): Generator<TapeRecord, void, undefined>
}

export function heldNotes(texts: readonly NoteText[], report: Report): HeldNotes {
  const notes = createNotes(report)
  let given = 0
  function done<T>(needing: Needing<T>): T {
    let step = needing.next()
    while (!step.done) {
      step = needing.next(given < texts.length ? { text: texts[given] } : undefined)
      given += 1
    }
    return step.value
  }
  return {
    next: (number, id) => done(notes.next(number, id)),
    *rest() {
      for (let line = done(notes.rest()); line; line = done(notes.rest())) yield line
    },
  }
}

/** Notes that are read along with the messages. */
export interface ReadNotes {
  /** The notes on an entry. A promise only when more of the file must be read, since files have millions of entries. */
  next(number: number, id: string | undefined): Said | Promise<Said>
  /** The next line after the last message; undefined for none. */
  rest(): Promise<TapeRecord | undefined>
  close(): Promise<void>
}

/** @param found elements of the notes, per chunk of bytes */
export function readNotes(found: AsyncIterator<readonly JsonPiece[]>, report: Report): ReadNotes {
  const notes = createNotes(report)
  let pieces: readonly JsonPiece[] = []
  let given = 0

  /** Continues as long as the available pieces suffice. */
  function goOn<T>(needing: Needing<T>, step: IteratorResult<undefined, T>): IteratorResult<undefined, T> {
    let now = step
    while (!now.done && given < pieces.length) {
      const { path, text, fault } = pieces[given++]!
      // Invalid JSON elsewhere in the file is handled by others.
      if (path.length >= 3) now = needing.next({ text: fault === undefined ? text : undefined })
    }
    return now
  }

  async function finish<T>(needing: Needing<T>, begun: IteratorResult<undefined, T>): Promise<T> {
    let step = begun
    while (!step.done) {
      const more = await found.next()
      given = 0
      pieces = more.done ? [] : more.value
      step = more.done ? needing.next() : goOn(needing, step)
    }
    return step.value
  }

  return {
    next(number, id) {
      const needing = notes.next(number, id)
      const step = goOn(needing, needing.next())
      return step.done ? step.value : finish(needing, step)
    },
    async rest() {
      const needing = notes.rest()
      return finish(needing, goOn(needing, needing.next()))
    },
    async close() {
      await found.return?.()
    },
  }
}

/** Notes searched to resynchronize in a file to which messages were added, or from which some were removed. */
const lookedAhead = 16

function createNotes(report: Report): NotesInStep {
  const ahead: Note[] = []
  let ended = false
  /** Offset between the position of messages and the number in their notes. */
  let shift = 0
  let bad = 0
  let lost = 0

  function* look(): Needing<Note | undefined> {
    while (ahead.length < lookedAhead && !ended) {
      const value = yield
      ended = value === undefined
      if (!value) continue
      const note = value.text === undefined ? undefined : noteOf(onOneLine(value.text))
      if (note) ahead.push(note)
      else bad += 1
    }
    return ahead[0]
  }

  /** Index of the note on this entry, when the first note is on an entry. -1 when there is none. */
  function indexFor(note: Note, number: number, id: string | undefined): number {
    if (note.at + shift > number) return -1
    if (note.at + shift === number && (id === undefined || hasId(note, id))) return 0
    return ahead.findIndex((other) => hasId(other, id))
  }

  return {
    *next(number, id) {
      const before: TapeRecord[] = []
      for (let note = yield* look(); note && note.at + shift <= number; note = yield* look()) {
        if ('record' in note) before.push(note.record)
        // Its message may come later, when others were inserted before it.
        else if (note.at + shift > number - lookedAhead) break
        else lost += 1
        ahead.shift()
      }
      const [first] = ahead
      const index = first && 'frame' in first ? indexFor(first, number, id) : -1
      if (index === -1) return { before }
      const passed = ahead.splice(0, index + 1)
      const found = passed.pop()!
      for (const note of passed) {
        if ('record' in note) before.push(note.record)
        else lost += 1
      }
      shift = number - found.at
      return 'frame' in found ? { before, frame: found.frame } : { before }
    },
    *rest() {
      for (let note = yield* look(); note; note = yield* look()) {
        ahead.shift()
        if ('record' in note) return note.record
        lost += 1
      }
      if (lost > 0) {
        const message = `the file was changed: elements of metadata.wiretape.lines that match no message are left out: ${lost}`
        report({ severity: 'warning', code: 'changed', message })
      }
      if (bad > 0) {
        const message = `elements of metadata.wiretape.lines that are not lines of a tape are left out: ${bad}`
        report({ severity: 'error', code: 'bad-note', message })
      }
      return undefined
    },
  }
}

function hasId(note: Note, id: string | undefined): boolean {
  return 'frame' in note && note.frame.id === id
}

function noteOf(text: string): Note | undefined {
  const note = JsonObject.in(text)
  if (!note) return undefined
  const at = note.number('at')
  const id = note.string('id')
  const line = lineOf(note)
  if (at === undefined || line === undefined) return undefined
  if (id !== undefined) {
    const between = note.has('between') ? note.strings('between') : []
    const frame = { id, line: new JsonObject(line, 0), without: note.strings('without') }
    return { at, frame: { ...frame, between: between.length > 1 ? between : undefined } }
  }
  const decoded = decodeLine(line)
  return 'record' in decoded ? { at, record: decoded.record } : undefined
}

/** The line itself, or a string of it where it exceeds the limits of other readers. */
function lineOf(note: JsonObject): string | undefined {
  const own = note.raw('line')
  if (own?.startsWith('{')) return own
  const text = note.string('line')
  if (text === undefined) return undefined
  const span = jsonObjectIn(text)
  return span && text.slice(span.start, span.end)
}
