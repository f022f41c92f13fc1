/** Tapes of all kinds, for properties of the session file. */
import * as fc from 'fast-check'
import type { MessageRecord, TapeRecord } from '../../src/model/index.js'
import { encodeRecord } from '../../src/formats/index.js'
import { readEnvelope } from '../../src/wire/index.js'
import { hardValues } from './hard-values.js'
import { recordsOf } from './session-json-stage.js'

const hard = [
  ...hardValues,
  '{"proxy_id":"x","payload":{"messages":[],"metadata":{}}}',
  '"\\"],\\"metadata\\":{"',
  '9'.repeat(5000),
  `${'['.repeat(600)}${']'.repeat(600)}`,
]
export const anyValue = fc.oneof(fc.constantFrom(...hard), fc.json())
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.string({ maxLength: 8 }),
  fc.constantFrom('', ' ', '\ud800', '__proto__', "a'b", 'msg-001'),
)
const id = fc.oneof(
  fc.constantFrom('1', '"1"', '0', '"a"', '-1', 'null', '1.0', '1.5', 'true', '[]', '1e2', '"\\u0041"'),
  fc.constant('9'.repeat(4500)),
)
const name = fc.constantFrom('"a/b"', '"m\\u0065thod"', '"😀"', '"\\ud800"', '5', '"initialize"')
const params = fc.oneof(
  anyValue.map((v) => `{"x":${v}}`),
  anyValue,
)
/** One element of a frame. */
const element = fc.oneof(
  fc.tuple(id, name, params).map(([i, m, p]) => `{"jsonrpc":"2.0","id":${i},"method":${m},"params":${p}}`),
  fc.tuple(name, params).map(([m, p]) => `{ "params" : ${p} ,"method":${m},\t"jsonrpc":"2.0"}`),
  fc.tuple(id, params).map(([i, p]) => `{"jsonrpc":"2.0","id":${i},"result":${p}}`),
  fc
    .tuple(id, anyValue, anyValue)
    .map(([i, code, p]) => `{"jsonrpc":"2.0","id":${i},"error":{"code":${code},"message":${p}}}`),
  fc.constantFrom(
    '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no","data":null}}',
    '{"jsonrpc":"2.0","id":1,"result":{},"method":"x"}',
    '{"jsonrpc":"2.0","id":1,"id":2,"method":"twice"}',
    '{"jsonrpc":"1.0","id":1,"method":"old"}',
  ),
  anyValue.map((v) => `{"x":${v}}`),
)
const batch = fc
  .tuple(fc.array(fc.oneof(element, anyValue), { maxLength: 4 }), fc.constantFrom(',', ' , ', ',\t'))
  .map(([elements, comma]) => `[ ${elements.join(comma)}]`)
const raw = fc.oneof({ weight: 3, arbitrary: element }, batch, anyValue)

const time = fc.constantFrom(
  '2026-08-01T10:00:00.000Z',
  '2026-08-01T10:00:00.001Z',
  '2026-08-01T10:00:01.234Z',
  '2026-08-01T09:59:59.999Z',
  '2026-08-01T10:00:00.123456Z',
  '2026-08-01T12:00:00+02:00',
  'now',
  '',
  '9999-12-31T23:59:59.999Z',
  '1969-12-31T23:59:59.999Z',
)
const kept = fc.oneof(
  anyValue,
  fc.constantFrom(
    '{"x":1}',
    '{"payload":{}, "direction":"up","original_payload":1}',
    '{"proxy_id":5,"timestamp":"2026-08-01T10:00:00Z","transport":"sse","jsonrpc_id":"q","method":"other"}',
    '{"transport":"http","method":5,"jsonrpc_id":1.5,"modified":"yes","sequence":"x","correlated_id":7}',
    '[{"x":1},{}]',
    '[{},{"transport":"sse"}]',
    '{"messages":1,"metadata":2,"id":3,"ended_at":4,"server_command":"x y","server_url":null,"zz":"\\ud800"}',
  ),
)
const collidingName = fc.constantFrom(
  'session',
  'at',
  'line',
  'wiretape',
  'payload',
  'proxy_id',
  '__proto__',
  'constructor',
  'x',
  'id',
  'seq',
  'us',
  'corr',
  'modified',
  'original',
  'red',
  'batch',
  'eol',
  'bytes',
  'conv',
  'late',
  'linked',
)
/** Members of a line in any order, some of them more than once. */
const extras = fc.array(fc.tuple(collidingName, fc.oneof(anyValue, kept)), { maxLength: 3 })
const members = (names: Record<string, fc.Arbitrary<string>>): fc.Arbitrary<[string, string][]> =>
  fc.record(names, { requiredKeys: [] }).map((some) => Object.entries(some as Record<string, string>))
const json = (arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<string> =>
  arbitrary.map((x) => JSON.stringify(x))
const us = fc.oneof(fc.nat(), fc.constantFrom(1000, 1234, 5, 1_234_000)).map(String)

const messageLine = fc
  .tuple(
    time,
    fc.constantFrom('in', 'out'),
    raw,
    members({
      id: json(anyText),
      corr: json(anyText),
      seq: fc.oneof(fc.nat(), fc.constant(Number.MAX_SAFE_INTEGER)).map(String),
      us: fc.oneof(us, fc.constantFrom('-5', '1.5', '"x"', '9007199254740991')),
      late: fc.constantFrom('true', 'false'),
      linked: fc.constant('[{"kind":"task","to":"a"}]'),
      conv: json(anyText),
      batch: fc.constantFrom('[{"id":"p"},{"id":"q","corr":"r"}]', '[{"id":"p"}]', '{}'),
      modified: fc.constantFrom('true', 'true', 'false'),
      original: raw,
      red: fc.constantFrom('[{"at":"/params/x","tag":"t"}]', '[]', '5'),
      eol: fc.constantFrom('"crlf"', '"none"', '"x"'),
      bytes: fc.constantFrom('"AAAA"', '5'),
      session: kept,
    }),
    extras,
  )
  .map(([t, dir, raw, some, more]) =>
    objectOf([['t', JSON.stringify(t)], ['dir', `"${dir}"`], ['raw', raw], ...some, ...more]),
  )

const otherLine = fc.oneof(
  fc.tuple(time, anyText).map(([t, text]) =>
    objectOf([
      ['type', '"noise"'],
      ['t', JSON.stringify(t)],
      ['dir', '"in"'],
      ['us', '5'],
      ['text', JSON.stringify(text)],
    ]),
  ),
  fc
    .tuple(time, anyText, extras)
    .map(([t, text, more]) =>
      objectOf([['type', '"stderr"'], ['t', JSON.stringify(t)], ['text', JSON.stringify(text)], ...more]),
    ),
  fc.tuple(time, fc.nat()).map(([t, lost]) =>
    objectOf([
      ['type', '"gap"'],
      ['t', JSON.stringify(t)],
      ['lost', String(lost)],
      ['why', '"x"'],
    ]),
  ),
  fc.constantFrom(
    '{"type":"undelivered","t":"","us":1,"id":"a","why":"gone"}',
    '{"type":"session-entry","text":"{broken"}',
    '{ "type" : "of-another" , "v":[ 1 ]}',
  ),
)
const endLine = fc
  .tuple(
    time,
    members({
      exitCode: fc.constantFrom('0', '137', 'null', '1.5'),
      durationMs: fc.nat().map(String),
      wiretape: fc.constantFrom('{"messages":3}', '{"messages":1,"rotated":true,"x":1}', '5', '{"x":1}'),
    }),
    extras,
  )
  .map(([t, some, more]) => objectOf([['t', JSON.stringify(t)], ['type', '"end"'], ...some, ...more]))
const metadata = fc
  .array(fc.tuple(fc.oneof(anyText, fc.constantFrom('wiretape', 'target', 'notes')), anyValue), {
    maxLength: 3,
  })
  .map(objectOf)
const identity = fc
  .tuple(
    anyText,
    fc.constantFrom('stdio', 'sse', 'streamable-http', 'x'),
    fc.option(anyText),
    metadata,
    extras,
  )
  .map(([session, transport, url, metadata, more]) =>
    objectOf([
      ['version', '"0.1.0"'],
      ['session', JSON.stringify(session)],
      ['transport', `"${transport}"`],
      ['url', JSON.stringify(url)],
      ['segment', '0'],
      ['redaction', '"none"'],
      ['metadata', metadata],
      ...more.filter(([name]) => name !== 'session'),
    ]),
  )
const metaLine = (isOwn: boolean): fc.Arbitrary<string> =>
  fc
    .tuple(time, anyText, fc.array(anyText, { maxLength: 3 }), identity, fc.option(kept), extras)
    .map(([t, label, command, identity, kept, more]) =>
      objectOf([
        ['v', '1'],
        ['type', '"meta"'],
        ['startedAt', JSON.stringify(t)],
        ['label', JSON.stringify(label)],
        ['command', JSON.stringify(command)],
        ...more.filter(([name]) => name !== 'wiretape'),
        ...(isOwn ? [['wiretape', identity] as const] : []),
        ...(kept === null ? [] : [['session', kept] as const]),
      ]),
    )

function objectOf(members: readonly (readonly [string, string])[]): string {
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`
}

const body = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: messageLine },
    otherLine,
    { weight: 1, arbitrary: endLine },
    metaLine(true),
  ),
  { maxLength: 6 },
)

function tapes(head: fc.Arbitrary<string[]>): fc.Arbitrary<TapeRecord[]> {
  return fc.tuple(head, body).map(([first, rest]) => settled([...first, ...rest]))
}

/** Records after a first write, which normalizes some odd members. */
function settled(lines: string[]): TapeRecord[] {
  const once = recordsOf(linesOf(recordsOf(lines)))
  return recordsOf(linesOf(once))
}

/** Of our own recorder, odd ones too; always with a first line. */
export const ownTape = tapes(metaLine(true).map((line) => [line]))
/** Of other recorders, and those that lost their first line. */
export const foreignTape = tapes(
  fc.oneof(
    metaLine(false).map((line) => [line]),
    fc.constant<string[]>([]),
  ),
)

/** A message record as wiretape's recorder writes it, without odd members. */
export function plainMessage(raw: string, more: Partial<MessageRecord> = {}): MessageRecord {
  const envelope = readEnvelope(raw, 0)
  const part = { id: crypto.randomUUID(), envelope, start: 0, end: raw.length }
  return {
    type: 'message',
    t: '2026-08-01T10:00:00.001Z',
    direction: 'client_to_server',
    raw,
    batch: false,
    parts: [part],
    ...more,
  }
}

export const linesOf = (records: readonly TapeRecord[]): string[] =>
  records.map((record) => encodeRecord(record).trimEnd())
