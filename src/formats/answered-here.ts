import type { DroppedRecord, HeldRecord, MessageRecord, TapeRecord } from '../model/index.js'
import type { Recording } from './format.js'
import { replaced } from './iterate.js'

/** Characters of dropped requests that may wait for their answer; of more, the oldest are given up. */
const mostRemembered = 16 * 1024 * 1024

interface Asked {
  readonly held: HeldRecord
  dropped?: DroppedRecord
}

/**
 * A recording for formats that know no held messages. A request that a person or a rule answered in the place of the
 * other side was said and was answered, so it is a message here too, before its answer; that it was not passed on
 * becomes a note that it was not delivered. What was dropped and answered by nobody stays dropped.
 */
export function answeredHere(recording: Recording): Recording {
  return { ...recording, records: () => recordsOf(recording) }
}

function recordsOf(recording: Recording): AsyncIterable<TapeRecord> {
  const answered = createAnsweredHere()
  return replaced(
    recording.records(),
    (record) => answered.see(record),
    () => answered.rest(),
  )
}

/** As `answeredHere`, record by record. */
export interface AnsweredHere {
  /** What stands in the place of a record; undefined for the record itself. */
  see(record: TapeRecord): readonly TapeRecord[] | undefined
  rest(): Iterable<TapeRecord>
}

export function createAnsweredHere(): AnsweredHere {
  /** By the ids of their messages. */
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
      // It was passed on after all.
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
