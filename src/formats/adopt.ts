import {
  createRecordCorrelator,
  relatePart,
  type Draft,
  type MessageRecord,
  type MetaRecord,
  type Part,
  type TapeRecord,
} from '../model/index.js'
import { idKey } from '../wire/index.js'
import { mapped } from './iterate.js'
import type { Recording } from './format.js'
import { LentMessage, type PlainForm } from './trace-v1/index.js'
import { bareMeta, madeUpId } from './session-json/session.js'

/**
 * A recording of another tool with the data of wiretape's own: a session id, message ids and links. Own
 * recordings are returned unchanged.
 *
 * @param options.links also find links other than responses @default true
 */
export function adopt(recording: Recording, options: { readonly links?: boolean } = {}): Recording {
  function records(lent?: PlainForm): AsyncIterable<TapeRecord> {
    let foreign = false
    let relate = createRelate(options)
    let count = 0
    return mapped(recording.records(lent), (record) => {
      if (record.type === 'meta') {
        // A tape that lost its first line may be wiretape's own: its messages then have ids.
        foreign = record.wiretape === undefined && record.made !== true
        relate = createRelate(options)
        return record.wiretape === undefined ? adoptedMeta(record) : record
      }
      if (record.type !== 'message') return record
      const first = count
      count += record.parts.length
      const isNameless = foreign || record.parts.some(({ id }) => id === undefined)
      return isNameless ? named(record, relate, first) : record
    })
  }
  return { records }
}

function adoptedMeta(meta: MetaRecord): MetaRecord {
  const said = { startedAt: meta.startedAt, session: madeUpId(meta), command: meta.command }
  const { wiretape } = bareMeta({ ...said, transport: 'stdio', url: null, metadata: [] })
  return { ...meta, wiretape: wiretape! }
}

type Relate = (record: MessageRecord, part: Draft<Part>, id: string) => Part

/** Gives a part of ours its id and its relations. */
function createRelate(options: { readonly links?: boolean }): Relate {
  const correlate = createRecordCorrelator<string>(idKey, options)
  return (record, part, id) => {
    part.id = id
    return relatePart(part, correlate(record, part.envelope, id))
  }
}

function named(record: MessageRecord, relate: Relate, count: number): MessageRecord {
  const first = record.seq ?? count
  const idOf = (place: number): string => `msg-${String(first + place + 1).padStart(3, '0')}`
  if (record instanceof LentMessage) {
    relate(record, record.parts[0]!, idOf(0))
    return record
  }
  return { ...record, parts: record.parts.map((part, i) => relate(record, { ...part }, idOf(i))) }
}
