import type { Redactor } from '../redaction/index.js'
import { createRecent } from '../model/index.js'
import { Journal, SegmentFile, type Disk } from '../tape/index.js'
import type { Channel } from './channel.js'
import { BatchFiller, buffersOf } from './chunk-batch.js'
import { RecordBuilder } from './record-builder.js'
import { RegionPool } from './region-pool.js'

/** Batches. The engine notes the kinds of values only after a function has run several times. */
const rounds = 10

/**
 * Records invented messages of all usual shapes on no disk. The engine optimizes code for the kinds of values it has
 * seen. Code optimized during a flood of requests would be discarded at the first result, and compiled again.
 *
 * @param isOver true once a real message came: those behind it must not wait
 */
export async function rehearse(redactor: Redactor, isOver: () => boolean): Promise<void> {
  let us = 0
  const now = (): { t: string; us: number } => ({ t: new Date(0).toISOString(), us })
  const meta = { type: 'meta', startedAt: now().t, label: '', command: [], mcpTapVersion: '' } as const
  // Each batch fills the file, as a long one fills the buffer.
  const journal = new Journal(new SegmentFile('', -1, 0, noDisk), meta, { disk: noDisk, now, maxBytes: 1 })
  const builder = new RecordBuilder(redactor)
  const pool = new RegionPool()
  const filler = new BatchFiller(pool)
  // Old entries are dropped only after thousands of requests.
  const recent = createRecent<number, number>({ entries: 2, chars: 10, sizeOf: () => 1 })
  for (let n = 0; n < 20 * rounds; n += 1) recent.set(n, n)
  for (let round = 0; round < rounds; round += 1) {
    for (const [channel, line] of [
      ...exchange('in', 'out', 2 * round),
      ...exchange('out', 'in', 2 * round + 1),
    ])
      filler.add(channel, Buffer.from(`${line}\n`), 1000.5, 0)
    const batch = filler.take()
    // As it comes from the other thread: objects of the same kind.
    builder.chunks(structuredClone(batch), (record) => journal.add(record), journal)
    pool.giveBack(buffersOf(batch))
    journal.flush()
    us += 1e6
    await new Promise((done) => setImmediate(done))
    if (isOver()) return
  }
}

/** Accepts everything, and keeps nothing. */
const noDisk: Disk = {
  openSync: refuse,
  writeSync: ((_fd: number, _bytes: unknown, _offset: number, length: number) =>
    length) as unknown as Disk['writeSync'],
  ftruncateSync: () => undefined,
  fstatSync: (() => ({ nlink: 1, size: Number.POSITIVE_INFINITY })) as unknown as Disk['fstatSync'],
  fsyncSync: () => undefined,
  closeSync: () => undefined,
  mkdirSync: refuse,
  unlinkSync: () => undefined,
}

function refuse(): never {
  throw new Error('there is no disk')
}

type Sent = readonly [Channel, string]

/** A request, its result and a notification. @param from the channel of the side that asks */
function exchange(from: Channel, to: Channel, n: number): Sent[] {
  const id = n % 4 === 3 ? `"${n}"` : String(n)
  const text = n % 3 === 2 ? 'a “quoted” \\"text\\"' : 'a text of usual length, with spaces'
  const values = `{"n":${n},"x":-1.5e3,"list":[1,"two",{"three":true}],"no":null,"empty":{},"text":"${text}"}`
  const params = n % 2 === 0 ? `{"name":"echo","arguments":${values}}` : `{"uri":"file:///a/b"}`
  return [
    [from, `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${params}}`],
    [to, `{"jsonrpc":"2.0","method":"notifications/message","params":${values}}`],
    [
      to,
      `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"${text}"}],"isError":false}}`,
    ],
  ]
}
