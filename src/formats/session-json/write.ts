import type { EndRecord, MessageRecord, MetaRecord, Report, TapeRecord } from '../../model/index.js'
import { bytesOf } from '../../wire/index.js'
import type { Recording } from '../format.js'
import { chained, flatMapped, inBatches, just, mapped, opened } from '../iterate.js'
import { textChunks, type Piece } from '../text-chunks.js'
import type { PlainForm } from '../trace-v1/index.js'
import {
  createLayout,
  entryEnd,
  isRelated,
  usualWithout,
  type Origin,
  type Placed,
  type Spacing,
} from './layout.js'
import { inReach } from './demanding.js'
import { objectText } from './members.js'
import { bareMeta, headOf, type SessionHead } from './session.js'
import { parseMicros, tapeTime } from './time.js'

/** Characters of notes held until the messages are written; beyond that, the recording is read again. */
const mostNotes = 4_000_000
/** Version of the structure in `metadata.wiretape`. */
export const notesVersion = 1

const betweenEntries = bytesOf(`${entryEnd},\n`)

/** The first and last line of a recording, for which the file has members. */
interface Ends {
  readonly meta: MetaRecord
  readonly hasMeta: boolean
  readonly origin: Origin
  readonly end: EndRecord | undefined
}

/**
 * A recording as a session file: two-space indent, the documented order of members, no line break at the end.
 * No token of a payload is changed. Data that `messages` cannot hold goes to `metadata.wiretape`.
 */
export function writeSession(
  recording: Recording,
  report: Report,
  spacing?: Spacing,
): AsyncIterable<Uint8Array> {
  return textChunks(
    opened(async () => new SessionWriter(recording, await endsOf(recording), report, spacing).pieces()),
    recording,
  )
}

/** In batches, like the records: most files have millions of entries. */
class SessionWriter {
  readonly #recording: Recording
  readonly #ends: Ends
  readonly #report: Report
  readonly #spacing: Spacing | undefined
  readonly #head: SessionHead
  readonly #without: readonly string[]
  readonly #notes: string[] = []
  #notesSize = 0
  #noteCount = 0
  #entryCount = 0
  #elsewhere = 0

  constructor(recording: Recording, ends: Ends, report: Report, spacing: Spacing | undefined) {
    this.#recording = recording
    this.#ends = ends
    this.#report = report
    this.#spacing = spacing
    this.#head = headOf(ends.meta, ends.end)
    this.#without = usualWithout(ends.origin)
  }

  pieces(): AsyncIterable<Piece> {
    return chained([
      () => just(this.#start()),
      () =>
        layOut(this.#recording, this.#ends, this.#head, this.#spacing, (placed, type) =>
          this.#messages(placed, type),
        ),
      () => just(this.#metadata()),
      () => this.#lines(),
      () => just(this.#rest()),
    ])
  }

  *#start(): Generator<string> {
    yield '{\n'
    for (const [name, json] of this.#head.members) yield `  ${JSON.stringify(name)}: ${json},\n`
    yield '  "messages": ['
  }

  #messages({ entries, whole, note }: Placed, type: TapeRecord['type']): Piece[] {
    if (whole && entries.length === 0 && this.#entryCount > 0) {
      this.#entryCount += 1
      return [whole]
    }
    const texts: Piece[] = []
    for (const pieces of entries) {
      texts.push(this.#entryCount === 0 ? '\n' : betweenEntries, ...pieces)
      this.#entryCount += 1
    }
    if (whole) {
      texts.push(this.#entryCount === 0 ? whole.subarray(entryEnd.length + 1) : whole)
      this.#entryCount += 1
    }
    if (note === undefined) return texts
    if (entries.length === 0 && (type === 'message' || type === 'noise' || type === 'gap'))
      this.#elsewhere += 1
    this.#notesSize += note.length
    if (this.#notesSize <= mostNotes) this.#notes.push(note)
    return texts
  }

  *#metadata(): Generator<string> {
    yield this.#entryCount === 0 ? '],\n' : `${entryEnd}\n  ],\n`
    if (this.#elsewhere > 0) {
      const message = `recorded lines that are not a single JSON-RPC message are kept in metadata.wiretape: ${this.#elsewhere}`
      this.#report({ severity: 'warning', code: 'kept-in-metadata', message })
    }
    yield '  "metadata": {'
    let separator = ''
    for (const [name, json] of this.#head.metadata) {
      yield `${separator}\n    ${JSON.stringify(name)}: ${json}`
      separator = ','
    }
    if (this.#hasOwn()) yield* this.#own(separator)
  }

  /** Whether there is any data without a place in the format. */
  #hasOwn(): boolean {
    const { meta, end, displaced } = this.#head
    return (
      meta.length > 0 ||
      end.length > 0 ||
      this.#notesSize > 0 ||
      displaced !== undefined ||
      this.#without.length > 0
    )
  }

  *#own(separator: string): Generator<string> {
    const { meta, end, displaced } = this.#head
    yield `${separator}\n    "wiretape": {\n      "version": ${notesVersion}`
    if (this.#without.length > 0) yield `,\n      "without": ${JSON.stringify(this.#without)}`
    if (meta.length > 0) yield `,\n      "meta": ${inReach(objectText(meta))}`
    if (end.length > 0) yield `,\n      "end": ${inReach(objectText(end))}`
    if (displaced !== undefined) yield `,\n      "displaced": ${displaced}`
    if (this.#notesSize > 0) yield ',\n      "lines": ['
  }

  #lines(): AsyncIterable<string> {
    const all =
      this.#notesSize <= mostNotes ? just(this.#notes) : notesOf(this.#recording, this.#ends, this.#head)
    return mapped(all, (note) => `${this.#noteCount++ === 0 ? '' : ','}\n        ${note}`)
  }

  *#rest(): Generator<string> {
    if (this.#notesSize > 0) yield '\n      ]'
    if (this.#hasOwn()) yield '\n    }'
    yield this.#hasOwn() || this.#head.metadata.length > 0 ? '\n  }' : '}'
    for (const [name, json] of this.#head.others) yield `,\n  ${JSON.stringify(name)}: ${json}`
    yield '\n}'
  }
}

/** The first meta line, and the end line when it is the last. */
async function endsOf(recording: Recording): Promise<Ends> {
  return (await endsAtOnce(recording)) ?? endsOfAll(recording)
}

/** Without reading the whole recording, when its first message is representative of the others. */
async function endsAtOnce(recording: Recording): Promise<Ends | undefined> {
  const ends = await recording.ends?.()
  if (ends?.first.type !== 'meta' || ends.first.made) return undefined
  const { first: meta, firstMessage, last, nameless = false } = ends
  const own = meta.wiretape !== undefined || meta.made === true
  if (own && !nameless && !isNamed(firstMessage)) return undefined
  return { meta, hasMeta: true, origin: { own, nameless }, end: endFrom(last) }
}

function isNamed({ parts }: MessageRecord): boolean {
  return parts.some(({ id, correlatedId }) => id !== undefined || correlatedId !== undefined)
}

function endFrom(last: TapeRecord | undefined): EndRecord | undefined {
  return last?.type === 'end' && parseMicros(last.t) !== undefined ? last : undefined
}

async function endsOfAll(recording: Recording): Promise<Ends> {
  let first: TapeRecord | undefined
  let meta: MetaRecord | undefined
  let last: TapeRecord | undefined
  let messages = 0
  let named = 0
  for await (const batch of inBatches(recording.records())) {
    for (const record of batch) {
      first ??= record
      if (record.type === 'meta') meta ??= record
      if (record.type === 'message') {
        messages += 1
        if (isNamed(record)) named += 1
      }
      last = record
    }
  }
  const hasMeta = first !== undefined && first.type === 'meta'
  return {
    meta: hasMeta ? meta! : (meta ?? metaFrom(first)),
    hasMeta,
    origin: {
      own: meta === undefined || meta.wiretape !== undefined || meta.made === true,
      nameless: messages > 0 && named === 0,
    },
    end: endFrom(last),
  }
}

/** For a tape that lost its start. */
function metaFrom(first: TapeRecord | undefined): MetaRecord {
  const t = first && first.type !== 'unknown' && first.type !== 'meta' ? first.t : undefined
  const startedAt = t ?? tapeTime(0)
  const nothing = { session: '', transport: 'stdio', url: null, metadata: [], command: [] } as const
  const { wiretape: _, ...meta } = bareMeta({ startedAt, ...nothing })
  return meta
}

/** The results of `take` for the output of each record. */
function layOut<T>(
  recording: Recording,
  ends: Ends,
  head: SessionHead,
  spacing: Spacing | undefined,
  take: (placed: Placed, type: TapeRecord['type']) => T[],
): AsyncIterable<T> {
  const layout = createLayout(head, ends.origin, spacing)
  let isFirst = ends.hasMeta
  /** An end line, which becomes part of the head when nothing follows. */
  let held: TapeRecord | undefined
  const laid = (record: TapeRecord): T[] => take(layout.place(record), record.type)

  function next(record: TapeRecord): T[] {
    if (record.type === 'message' && !held && !isFirst) return laid(record)
    if (isFirst) {
      isFirst = false
      return []
    }
    const before = held ? laid(held) : []
    held = record.type === 'end' ? record : undefined
    return held ? before : [...before, ...laid(record)]
  }
  return flatMapped(recording.records(formOf(ends, head, spacing)), next, () => {
    const rest = take(layout.rest(), 'held')
    return held && !ends.end ? [...rest, ...laid(held)] : rest
  })
}

function notesOf(recording: Recording, ends: Ends, head: SessionHead): AsyncIterable<string> {
  return layOut(recording, ends, head, { compact: true }, ({ note }) => (note === undefined ? [] : [note]))
}

/** Lines of wiretape's recorder hold all data of their entries; in others, some depends on other messages. */
function formOf({ origin }: Ends, { startMicros, transport }: SessionHead, spacing?: Spacing): PlainForm {
  if (spacing?.compact) return 'bytes'
  return { startMicros, transport, isOpen: !isRelated(origin) }
}
