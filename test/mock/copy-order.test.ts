import { describe, expect, it } from 'vitest'
import { decodeLine } from '../../src/formats/trace-v1/decode.js'
import { CopyOrder, type Placed } from '../../src/mock/fallback/copy-order.js'
import type { NewMessage } from '../../src/mock/fallback/new-messages.js'
import type { TapeRecord } from '../../src/model/index.js'

const started = '2026-08-01T10:00:00.000Z'
const message = (seq: number, us: number, raw: object | object[] = {}): TapeRecord =>
  recordOf({ t: started, dir: 'in', raw, id: `m${seq}`, seq, us })
const recordOf = (line: object): TapeRecord => {
  const decoded = decodeLine(JSON.stringify(line))
  if ('fault' in decoded) throw new Error(decoded.fault.message)
  return decoded.record
}
const meta = recordOf({ v: 1, type: 'meta', startedAt: started, label: 'x', command: [] })

function added(place: number, atMs: number): NewMessage {
  return { text: '{}', direction: 'client_to_server', live: 0, place, atMs }
}

/** Number and time of each message; new ones with a plus. */
function order(news: NewMessage[], records: TapeRecord[], gone: number[] = []): string[] {
  const copy = new CopyOrder(news.values(), (number) => gone.includes(number))
  const placed = [...[meta, ...records].flatMap((record) => copy.take(record)), ...copy.rest()]
  return placed.flatMap(told)
}

function told(placed: Placed): string[] {
  if ('message' in placed) return [`+${placed.at.seq} ${placed.at.us}`]
  const { record } = placed
  if (record.type === 'dropped') return [`dropped ${record.id}`]
  if (record.type !== 'message' && record.type !== 'held') return []
  return [`${record.type === 'held' ? 'held ' : ''}${record.seq} ${record.us}`]
}

describe('the order of a copy', () => {
  it('puts what is new after the message that it follows, and moves later ones only as far as it must', () => {
    const records = [message(0, 1_000), message(1, 2_000), message(2, 50_000), message(3, 60_000)]
    expect(order([added(1, 500), added(1, 503), added(2, 510), added(2, 550)], records)).toEqual([
      '0 1000',
      '1 2000',
      '+2 3000',
      '+3 6000',
      '4 50000',
      '+5 51000',
      '+6 91000',
      '7 91000',
    ])
  })

  it('puts what is new into the place of what is left out, at its time', () => {
    const records = [message(0, 1_000), message(1, 20_000), message(2, 25_000), message(3, 60_000)]
    expect(order([added(1, 0), added(1, 7)], records, [1, 2])).toEqual([
      '0 1000',
      '+1 21000',
      '+2 28000',
      '3 60000',
    ])
  })

  it('keeps the holes that gaps speak of, and whole batches', () => {
    const batch = recordOf({
      t: started,
      dir: 'in',
      raw: [{}, {}],
      id: 'b',
      seq: 5,
      us: 2_000,
      batch: [{}, {}],
    })
    expect(
      order([added(5, 0), added(-1, 0)].reverse(), [message(0, 0), batch, message(7, 3_000)], [6]),
    ).toEqual(['+0 1000', '1 1000', '6 3000', '+8 4000', '9 4000'])
  })

  it('gives held messages one number, and leaves nothing of those that were asked again', () => {
    const held = (seq: number): TapeRecord =>
      recordOf({ type: 'held', t: started, dir: 'in', raw: {}, id: `m${seq}`, seq, us: 0 })
    const dropped = recordOf({ type: 'dropped', t: started, us: 9, id: 'm2', why: 'x' })
    const records = [held(0), held(1), held(2), message(3, 5), message(1, 0), message(0, 0), dropped]
    expect(order([], records, [0, 2])).toEqual(['held 0 0', '1 5', '0 0'])
  })
})
