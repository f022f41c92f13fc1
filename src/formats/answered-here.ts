import type { DroppedRecord, HeldRecord, MessageRecord, TapeRecord } from '../model/index.js'
import type { Recording } from './format.js'
import { replaced } from './iterate.js'
import type { PlainForm } from './trace-v1/plain-form.js'

/** Characters of dropped requests that may wait for their response; beyond that, the oldest are given up. */
const mostRemembered = 16 * 1024 * 1024

interface Asked {
  readonly held: HeldRecord
  dropped?: DroppedRecord
}

/**
 * A recording for formats without held messages. A request that a person or a rule answered in place of the other
 * side was sent and answered, so it becomes a message before its response; an `undelivered` record states that it
 * was not forwarded. Dropped messages without a response stay dropped.
 */
export function answeredHere(recording: Recording): Recording {
  return { ...recording, records: (lent) => recordsOf(recording, lent) }
}

function recordsOf(recording: Recording, lent: PlainForm | undefined): AsyncIterable<TapeRecord> {
  const answered = createAnsweredHere()
  return replaced(
    recording.records(lent),
    (record) => answered.see(record),
    () => answered.rest(),
  )
}

/** As `answeredHere`, record by record. */
export interface AnsweredHere {
  /** Replacement of a record; undefined for the record itself. */
  see(record: TapeRecord): readonly TapeRecord[] | undefined
  rest(): Iterable<TapeRecord>
}

export function createAnsweredHere(): AnsweredHere {
  /** Keyed by the ids of their messages. */
  const asked = new Map<string, Asked>()
  let remembered = 0

  function forget({ held }: Asked): void {
    for (const { id } of held.parts) if (id !== undefined) asked.delete(id)
    remembered -= held.raw.length
  }

  function see(record: TapeRecord): readonly TapeRecord[] | undefined {
    if (record.type === 'message') return asked.size === 0 ? undefined : seeMessage(record)
    if (record.type === 'held') return seeHeld(record)
    const about = record.type === 'dropped' ? asked.get(record.id) : undefined
    if (about === undefined || record.type !== 'dropped') return undefined
    about.dropped = record
    return []
  }

  function seeHeld(held: HeldRecord): readonly TapeRecord[] | undefined {
    if (!held.parts.some(({ envelope }) => envelope.kind === 'request')) return undefined
    const entry = { held }
    for (const { id } of held.parts) if (id !== undefined) asked.set(id, entry)
    remembered += held.raw.length
    const given: TapeRecord[] = [held]
    for (const oldest of asked.values()) {
      if (remembered <= mostRemembered || oldest === entry) break
      forget(oldest)
      if (oldest.dropped) given.push(oldest.dropped)
    }
    return given
  }

  function seeMessage(record: MessageRecord): readonly TapeRecord[] | undefined {
    const given: TapeRecord[] = []
    for (const { id, correlatedId, late } of record.parts) {
      // The message was forwarded after all.
      const same = id === undefined ? undefined : asked.get(id)
      if (same) forget(same)
      const about = correlatedId === undefined || late ? undefined : asked.get(correlatedId)
      if (!about?.dropped) continue
      forget(about)
      given.push(...answeredRecords(about.held, about.dropped))
    }
    return given.length === 0 ? undefined : [...given, record]
  }

  function* rest(): Generator<TapeRecord> {
    for (const { dropped } of new Set(asked.values())) if (dropped) yield dropped
  }
  return { see, rest }
}

function answeredRecords(held: HeldRecord, { t, us, id, why }: DroppedRecord): TapeRecord[] {
  const heldMs =
    us === undefined || held.us === undefined
      ? Date.parse(t) - Date.parse(held.t)
      : Math.round((us - held.us) / 1000)
  const message: MessageRecord = { ...held, type: 'message', ...(heldMs >= 0 && { heldMs }) }
  return [message, { type: 'undelivered', t, ...(us !== undefined && { us }), id, why }]
}
