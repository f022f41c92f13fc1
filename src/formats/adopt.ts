import {
  createCorrelator,
  relatePart,
  type MessageRecord,
  type MetaRecord,
  type TapeRecord,
} from '../model/index.js'
import { idKey } from '../wire/index.js'
import { mapped } from './iterate.js'
import type { Recording } from './format.js'
import { bareMeta, madeUpId } from './session-json/session.js'

/**
 * A recording of another tool with what ours have: a session id, message ids and links. Ours is given back
 * as it is.
 *
 * @param options.links what else messages refer to is found out too @default true
 */
export function adopt(recording: Recording, options: { readonly links?: boolean } = {}): Recording {
  function records(): AsyncIterable<TapeRecord> {
    let foreign = false
    let correlator = createCorrelator<string>(idKey, options)
    let count = 0
    return mapped(recording.records(), (record) => {
      if (record.type === 'meta') {
        foreign = record.wiretape === undefined
        correlator = createCorrelator<string>(idKey, options)
        return foreign ? adoptedMeta(record) : record
      }
      if (record.type !== 'message') return record
      const first = count
      count += record.parts.length
      const isNameless = foreign || record.parts.some(({ id }) => id === undefined)
      return isNameless ? named(record, correlator, first) : record
    })
  }
  return { records }
}

function adoptedMeta(meta: MetaRecord): MetaRecord {
  const said = { startedAt: meta.startedAt, session: madeUpId(meta), command: meta.command }
  const { wiretape } = bareMeta({ ...said, transport: 'stdio', url: null, metadata: [] })
  return { ...meta, wiretape: wiretape! }
}

function named(
  record: MessageRecord,
  correlator: ReturnType<typeof createCorrelator<string>>,
  count: number,
): MessageRecord {
  const { direction, conversation = '' } = record
  const parts = record.parts.map((part, i) => {
    const id = `msg-${String((record.seq ?? count) + i + 1).padStart(3, '0')}`
    const seen = correlator.observe({ ref: id, envelope: part.envelope, direction, conversation })
    return relatePart({ ...part, id }, seen)
  })
  return { ...record, parts }
}
