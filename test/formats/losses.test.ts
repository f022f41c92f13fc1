/**
 * A format reports everything that it cannot store: each fact that does not survive a round trip has a line about it.
 */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { answeredHere } from '../../src/formats/answered-here.js'
import { formats, parquet, type Recording } from '../../src/formats/index.js'
import type { HeldRecord, MessageRecord, TapeRecord } from '../../src/model/index.js'
import { sessions } from './codec-sessions.js'
import { adopted, read, write } from './codec-stage.js'
import { recordsOf } from './session-json-stage.js'

const both = formats.filter((format) => 'read' in format && 'write' in format).map(({ id }) => id)
const writeOnly = [...formats, parquet]
  .filter((format) => !('read' in format) && 'write' in format)
  .map(({ id }) => id)
const overHttp = new Set(['streamable-http', 'http-sse', 'har'])

/** Events that may happen to a message, and around it. */
const fate = fc.constantFrom(
  'nothing',
  'nothing',
  'modified',
  'dropped',
  'held',
  'injected',
  'undelivered',
  'noise',
  'stderr',
  'gap',
  'note',
)

/** A session as it is after people, rules and accidents: with all that a tape can tell. */
async function eventful(records: readonly TapeRecord[], fates: readonly string[]): Promise<TapeRecord[]> {
  const all: TapeRecord[] = []
  const known = await adopted(records)
  let message = 0
  for (const record of known) {
    if (record.type !== 'message') {
      all.push(record)
      continue
    }
    const happens = fates[message++ % fates.length]
    const { t } = record
    if (happens === 'modified') {
      const original = record.raw.replace(/"jsonrpc":"2\.0"/, '"jsonrpc":"2.0","before":"é 1.0"')
      all.push({ ...record, modified: true, original, rule: 'r1' })
    } else if (happens === 'dropped') {
      all.push({ ...record, type: 'held' } satisfies HeldRecord)
      all.push({ type: 'dropped', t, id: record.parts[0]!.id!, why: 'no' })
    } else if (happens === 'held') {
      all.push({ ...record, type: 'held' } satisfies HeldRecord, { ...record, heldMs: 3 })
    } else if (happens === 'injected') all.push({ ...record, injected: true })
    else {
      all.push(record)
      if (happens === 'undelivered')
        all.push({ type: 'undelivered', t, id: record.parts[0]!.id!, why: 'gone' })
      if (happens === 'noise')
        all.push({ type: 'noise', t, direction: 'server_to_client', text: 'Listening…' })
      if (happens === 'stderr') all.push({ type: 'stderr', t, text: 'oops' })
      if (happens === 'gap') all.push({ type: 'gap', t, lost: 2, why: 'disk full' })
      if (happens === 'note') all.push({ type: 'note', t, text: 'look' })
    }
  }
  return all
}

/** Facts of a recording, and the words that report their loss. */
const facets: Readonly<
  Record<string, { readonly of: (records: readonly TapeRecord[]) => unknown[]; readonly told: RegExp }>
> = {
  texts: {
    of: (all) => parts(all).map(({ record, text }) => `${record.direction} ${text}`),
    told: /directions|payloads|white space|order|exact texts|message \d+ is left out/,
  },
  times: { of: (all) => parts(all).map(({ record }) => record.t.slice(0, 23)), told: /times|left out/ },
  originals: {
    of: (all) => messages(all).flatMap(({ original }) => (original === undefined ? [] : [original])),
    told: /original texts/,
  },
  dropped: {
    of: (all) => all.flatMap((record) => (record.type === 'dropped' ? [record.why] : [])),
    told: /dropped messages/,
  },
  held: {
    of: (all) => messages(all).flatMap(({ heldMs }) => heldMs ?? []),
    told: /held messages|hold times/,
  },
  rules: { of: (all) => messages(all).flatMap(({ rule }) => rule ?? []), told: /rules/ },
  injected: { of: (all) => messages(all).flatMap(({ injected }) => injected ?? []), told: /injected/ },
  undelivered: {
    of: (all) => all.flatMap((record) => (record.type === 'undelivered' ? [record.why] : [])),
    told: /undelivered/,
  },
  noise: {
    of: (all) => all.flatMap((record) => (record.type === 'noise' ? [record.text] : [])),
    told: /not JSON/,
  },
  stderr: {
    of: (all) => all.flatMap((record) => (record.type === 'stderr' ? [record.text] : [])),
    told: /stderr/,
  },
  gaps: { of: (all) => all.flatMap((record) => (record.type === 'gap' ? [record.lost] : [])), told: /gaps/ },
  notes: {
    of: (all) => all.flatMap((record) => (record.type === 'note' ? [record.text] : [])),
    told: /notes are left out/,
  },
  batches: {
    of: (all) =>
      messages(all)
        .filter(({ batch }) => batch)
        .map(({ raw }) => raw),
    told: /batches|left out/,
  },
  http: {
    of: (all) =>
      messages(all)
        .filter(({ http, sse }) => http ?? sse)
        .map(({ http, sse }) => [http?.status, http?.headers, sse?.event, sse?.id]),
    told: /HTTP|headers|left out/,
  },
}

function just(all: readonly TapeRecord[]): Recording {
  return {
    async *records() {
      yield* all
    },
  }
}

async function collected(recording: Recording): Promise<TapeRecord[]> {
  const all: TapeRecord[] = []
  for await (const record of recording.records()) all.push(record)
  return all
}

function messages(records: readonly TapeRecord[]): MessageRecord[] {
  return records.filter((record): record is MessageRecord => record.type === 'message')
}

function parts(records: readonly TapeRecord[]): { record: MessageRecord; text: string }[] {
  return messages(records).flatMap((record) =>
    record.parts.map(({ start, end }) => ({ record, text: record.raw.slice(start, end) })),
  )
}

/** Facets of which something is gone, without a word about it. */
function silentLosses(
  before: readonly TapeRecord[],
  after: readonly TapeRecord[],
  said: readonly string[],
): string[] {
  return Object.entries(facets)
    .filter(([, { of, told }]) => {
      const [was, is] = [JSON.stringify(of(before)), JSON.stringify(of(after))]
      return was !== is && !said.some((line) => told.test(line))
    })
    .map(([name]) => name)
}

const whatHappens = fc.array(fate, { minLength: 1, maxLength: 6 })

describe('what is lost is told', () => {
  it.each(both)('by %s', async (id) => {
    await fc.assert(
      fc.asyncProperty(sessions({ http: overHttp.has(id) }), whatHappens, async (records, fates) => {
        const before = await eventful(records, fates)
        const { text, said } = await write(id, before)
        const after = await read(id, text)
        const holdsAll = id === 'trace-v1' || id === 'session-json'
        const meant = holdsAll ? before : await collected(answeredHere(just(before)))
        expect(silentLosses(meant, after.records, holdsAll ? [] : said)).toEqual([])
      }),
      { numRuns: 60 },
    )
  })

  it.each(writeOnly)('by %s, which nobody reads back', async (id) => {
    await fc.assert(
      fc.asyncProperty(sessions(), whatHappens, async (records, fates) => {
        const before = await eventful(records, fates)
        const { said } = await write(id, before)
        // These are shown or left out; nothing else tells of them.
        const kept: Readonly<Record<string, readonly string[]>> = {
          csv: ['texts', 'times', 'noise', 'stderr', 'gaps', 'http'],
          parquet: ['texts', 'times', 'noise', 'stderr', 'gaps', 'http'],
          markdown: ['texts', 'times', 'noise', 'stderr', 'gaps'],
          'otlp-json': ['times', 'http'],
          'otlp-proto': ['times', 'http'],
          'otlp-metrics-json': ['times', 'http'],
          'otlp-metrics-proto': ['times', 'http'],
        }
        const meant = await collected(answeredHere(just(before)))
        const silent = silentLosses(meant, [], said).filter((name) => !kept[id]?.includes(name))
        expect(silent).toEqual([])
      }),
      { numRuns: 30 },
    )
  })
})

describe('what only tapes tell of a message', () => {
  const meta = {
    type: 'meta',
    v: 1,
    startedAt: '2026-08-01T10:00:00.000Z',
    label: 'x',
    command: [],
  } as unknown as TapeRecord
  const lines = [
    '"id":"a","seq":0,"us":1000,"conv":"one","raw":{"jsonrpc":"2.0","id":1,"method":"ping"}',
    '"id":"b","seq":1,"us":1500,"conv":"two","linked":[{"kind":"progress","to":"a"}],"bytes":"e30=","raw":{"jsonrpc":"2.0","method":"n"}',
  ]
  const records = [
    meta,
    ...recordsOf(lines.map((line) => `{"t":"2026-08-01T10:00:00.001Z","dir":"in",${line}}`)),
  ]
  const links = 'links between messages are left out: 1'
  const conversations = 'conversations of messages are left out: 2'
  const micros = 'microseconds of times are left out: 1'
  const layout = 'original line breaks and white space of messages are left out: 1'

  it.each([
    ['jsonrpc', [links, conversations, layout]],
    ['inspector', [links, conversations, micros, layout]],
    ['streamable-http', [links, conversations, micros, layout]],
    ['http-sse', [links, conversations, micros, layout]],
    ['har', [links, layout]],
    ['csv', [links, layout]],
    ['parquet', [links, layout]],
    ['otlp-json', [links]],
    ['markdown', [conversations]],
    ['assay-trace', [links, conversations]],
  ])('is told by %s, where it has no place for it', async (id, expected) => {
    expect((await write(id, records)).said).toEqual(expect.arrayContaining(expected))
  })

  it.each(['inspector', 'har', 'streamable-http', 'csv', 'otlp-json'])(
    'is not missed by %s in a recording that never said it',
    async (id) => {
      const call = '"id":1,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":1}}'
      const progress = '"method":"notifications/progress","params":{"progressToken":1,"progress":1}'
      const text = [call, progress].map((rest) => `{"jsonrpc":"2.0",${rest}}\n`).join('')
      const { said } = await write(id, (await read('jsonrpc', text)).records)
      expect(said.join()).not.toMatch(/links|conversations|microseconds|white space/)
    },
  )
})
