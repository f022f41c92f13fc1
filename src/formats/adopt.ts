import { createCorrelator, type MessageRecord, type TapeRecord } from '../model/index.js'
import { idKey } from '../wire/index.js'
import type { Recording } from './format.js'
import { bareMeta, madeUpId } from './session-json/session.js'

/**
 * A recording of another tool with what ours have: a session id, message ids and links. Ours is given back
 * as it is.
 */
export function adopt(recording: Recording): Recording {
  async function* records(): AsyncGenerator<TapeRecord, void, undefined> {
    let foreign = false
    let correlator = createCorrelator<string>(idKey)
    let count = 0
    for await (const record of recording.records()) {
      if (record.type === 'meta') {
        foreign = record.wiretape === undefined
        correlator = createCorrelator<string>(idKey)
        if (!foreign) yield record
        else {
          const said = { startedAt: record.startedAt, session: madeUpId(record), command: record.command }
          const { wiretape } = bareMeta({ ...said, transport: 'stdio', url: null, metadata: [] })
          yield { ...record, wiretape: wiretape! }
        }
      } else if (record.type === 'message') {
        const isNameless = foreign || record.parts.some(({ id }) => id === undefined)
        yield isNameless ? named(record, correlator, count) : record
        count += record.parts.length
      } else yield record
    }
  }
  return { records }
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
    return {
      ...part,
      id,
      ...(seen.answers !== undefined && { correlatedId: seen.answers }),
      ...(seen.late && { late: true as const }),
      ...(seen.duplicateOf !== undefined && { duplicateOf: seen.duplicateOf }),
      ...(seen.links.length > 0 && { links: seen.links }),
    }
  })
  return { ...record, parts }
}
