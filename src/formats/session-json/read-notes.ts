import type { TapeRecord } from '../../model/index.js'
import { findJsonValue, isFault, JsonObject, kindAt, type JsonPiece } from '../../wire/index.js'
import { decodeLine } from '../trace-v1/index.js'

/** What `metadata.wiretape.lines` says of the entry with that number, or of the batch that begins there. */
export interface FrameNote {
  /** `proxy_id` of the entry. */
  readonly id: string
  /** Members of the tape's line. */
  readonly line: JsonObject
  /** Of a batch: its text before, between and after the entries. */
  readonly between: readonly string[] | undefined
}

type Note = { readonly at: number } & ({ readonly record: TapeRecord } | { readonly frame: FrameNote })

/** The notes in step with the messages: both stand in the order of the tape. */
export interface Notes {
  /** Lines of the tape that stand before the message of that number. */
  before(number: number): Promise<TapeRecord[]>
  of(number: number): Promise<FrameNote | undefined>
  /** Lines after the last message. */
  rest(): AsyncIterable<TapeRecord>
  close(): Promise<void>
}

export function readNotes(pieces: AsyncGenerator<JsonPiece, void, undefined>): Notes {
  let next: Note | undefined
  let ended = false

  async function peek(): Promise<Note | undefined> {
    while (!next && !ended) {
      const { value, done } = await pieces.next()
      ended = done === true
      if (value && value.fault === undefined) next = noteOf(value.text)
    }
    return next
  }

  return {
    async before(number) {
      const records: TapeRecord[] = []
      for (let note = await peek(); note && note.at <= number; note = await peek()) {
        // A note on a message that is no longer there says nothing of any other.
        if ('frame' in note && note.at === number) break
        if ('record' in note) records.push(note.record)
        next = undefined
      }
      return records
    },
    async of(number) {
      const note = await peek()
      if (!note || !('frame' in note) || note.at !== number) return undefined
      next = undefined
      return note.frame
    },
    async *rest() {
      for (let note = await peek(); note; note = await peek()) {
        next = undefined
        if ('record' in note) yield note.record
      }
    },
    async close() {
      await pieces.return()
    },
  }
}

function noteOf(text: string): Note | undefined {
  const span = findJsonValue(text)
  if (isFault(span) || kindAt(text, span.start) !== 'object') return undefined
  const note = new JsonObject(text, span.start)
  const at = note.number('at')
  const id = note.string('id')
  const line = note.object('line')
  if (at === undefined || !line) return undefined
  if (id !== undefined) {
    const between = note.has('between') ? note.strings('between') : undefined
    return { at, frame: { id, line, between: between && between.length > 1 ? between : undefined } }
  }
  const decoded = decodeLine(note.raw('line')!)
  return 'record' in decoded ? { at, record: decoded.record } : undefined
}
