import {
  createRecordCorrelator,
  relatePart,
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

type Relate = (record: MessageRecord, part: Part, id: string) => Part

/** Gives a part its id and its relations. */
function createRelate(options: { readonly links?: boolean }): Relate {
  const correlate = createRecordCorrelator<string>(idKey, options)
  return (record, part, id) => relatePart({ ...part, id }, correlate(record, part.envelope, id))
}

function named(record: MessageRecord, relate: Relate, count: number): MessageRecord {
  const parts = record.parts.map((part, i) =>
    relate(record, part, `msg-${String((record.seq ?? count) + i + 1).padStart(3, '0')}`),
  )
  if (!(record instanceof LentMessage)) return { ...record, parts }
  record.parts = parts
  return record
}
