// @ts-check
/**
 * Processor time that the recording thread spends on one message of 100 B, by stage, and on one HTTP exchange, without
 * pipes, clients or other threads. Processor time instead of wall time, so that a busy machine gives the same numbers.
 */
import { mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from './lib/books.mjs'
import { createExchanges } from './lib/exchanges.mjs'
import { requestsOf } from './lib/requests.mjs'
import { median } from './lib/statistics.mjs'

const SIZE_BYTES = 100
/** Exchanges in one batch of a flood. */
const PER_BATCH = 2_600
const CHUNK_BYTES = 65_536
/** HTTP exchanges in one batch. */
const EXCHANGES = 400
/** The first batches are not measured: their code is not compiled yet. */
const COLD_BATCHES = 4

/** @param {string} path */
const load = (path) => import(join(root, 'dist', path))

/** Requests on one channel, their responses on the other. @param {number} first */
function batchOf(first) {
  const requests = requestsOf(SIZE_BYTES)(first, PER_BATCH)
  const head = '{"jsonrpc":"2.0","id":0000000000,"result":{"pad":"'
  const answer = `${head}${'r'.repeat(SIZE_BYTES - head.length - 4)}"}}\n`
  const answers = Buffer.from(answer.repeat(PER_BATCH))
  for (let at = 22; at < answers.length; at += SIZE_BYTES) requests.copy(answers, at, at, at + 10)
  const marks = []
  for (const channel of [0, 1]) {
    for (let at = 0; at < requests.length; at += CHUNK_BYTES)
      marks.push(channel, 1_000, 1.7e12, Math.min(CHUNK_BYTES, requests.length - at))
  }
  return { regions: { in: shared(requests), out: shared(answers) }, marks: new Float64Array(marks) }
}

/**
 * @param {{ take: (sizeBytes: number) => Uint8Array<ArrayBuffer> | undefined }} memory
 * @param {number} sizeBytes
 */
function bufferIn(memory, sizeBytes) {
  const bytes = memory.take(sizeBytes)
  if (!bytes) throw new Error('no memory')
  return Buffer.from(bytes.buffer, bytes.byteOffset, sizeBytes)
}

/** @param {Uint8Array} bytes */
function shared(bytes) {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length))
  copy.set(bytes)
  return copy
}

/** Processor time of this process, in µs per message. @param {() => void} work @param {number} messages */
function costOf(work, messages) {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / messages
}

/**
 * Measures one stage on one batch in one direction.
 *
 * @param {number} rounds
 * @param {(round: number) => void} work
 */
function stage(rounds, work) {
  const costs = []
  for (let round = 0; round < rounds; round++) costs.push(costOf(() => work(round), PER_BATCH))
  return median(costs.slice(rounds >> 1))
}

/** @param {{ quick: boolean, say: (line: string) => void }} options */
export async function run({ quick, say }) {
  const rounds = quick ? 40 : 160
  const { RecorderCore } = await load('proxy/recorder-core.js')
  const { createRunRedactor } = await load('proxy/run-redactor.js')
  const { prepareRedaction } = await load('redaction/index.js')
  const wire = await load('wire/index.js')
  const { Correlator, MessageIds } = await load('model/index.js')
  const { encodeRecord, MessageLineEncoder } = await load('formats/index.js')

  const memory = wire.createMessageMemory(readFileSync(join(root, 'dist/bin/messages.wasm')))
  if (!memory) throw new Error('WebAssembly does not run here')

  const folder = mkdtempSync(join(tmpdir(), 'wiretape-bench-'))
  prepareRedaction()
  const redactor = await createRunRedactor({ defaults: true })
  /** @param {'pipes' | 'http'} wire @param {string} name */
  const openCore = (wire, name) => {
    const tape = { path: join(folder, name), fd: -1, sizeBytes: 0 }
    tape.fd = openSync(tape.path, 'w')
    tape.sizeBytes = writeSync(tape.fd, '{"v":1,"type":"meta"}\n')
    const startedAt = new Date().toISOString()
    const meta = { type: 'meta', startedAt, label: 'bench', command: ['bench'], mcpTapVersion: '0' }
    const startedNs = process.hrtime.bigint()
    const redaction = { defaults: true }
    return new RecorderCore({ tape, meta, startedNs, strict: false, redaction, wire }, redactor)
  }
  say('the whole thread…')
  const core = openCore('pipes', 'frames.jsonl')
  const whole = []
  for (let round = 0; round < rounds; round++) {
    const batch = batchOf(round * PER_BATCH)
    whole.push(costOf(() => core.handle({ kind: 'chunks', batch }), 2 * PER_BATCH))
  }
  const { messages, gaps } = core.handle({
    kind: 'close',
    end: { exitCode: 0 },
  })
  /** @param {boolean} isStream */
  const exchangesOf = async (isStream) => {
    const http = openCore('http', `stream-${isStream}.jsonl`)
    const exchanges = await createExchanges({ isStream })
    const costs = []
    for (let round = 0; round < rounds; round++) {
      const batch = exchanges.batch(EXCHANGES)
      const before = process.cpuUsage()
      await http.handle({ kind: 'http', batch })
      const { user, system } = process.cpuUsage(before)
      costs.push((user + system) / EXCHANGES)
      exchanges.giveBack(batch)
    }
    const written = http.handle({ kind: 'close', end: { exitCode: 0 } }).messages
    return { costs, isWhole: written === 2 * EXCHANGES * rounds }
  }
  const json = await exchangesOf(false)
  const stream = await exchangesOf(true)
  rmSync(folder, { recursive: true, force: true })

  say('stages…')
  const bytes = Buffer.from(batchOf(0).regions.in)
  const inMemory = bufferIn(memory, bytes.length)
  bytes.copy(inMemory)
  const text = bytes.toString('latin1', 0, SIZE_BYTES - 1)
  const envelope = wire.readEnvelope(text, 0)
  const correlator = new Correlator(wire.idKey)
  const parts = [{ id: crypto.randomUUID(), envelope, start: 0, end: text.length }]
  const record = {
    type: 'message',
    t: new Date().toISOString(),
    us: 1,
    direction: 'client_to_server',
    raw: text,
    batch: false,
    parts,
    seq: 1,
  }
  const each = (/** @type {(n: number) => void} */ work) =>
    stage(rounds, () => {
      for (let n = 0; n < PER_BATCH; n++) work(n)
    })
  const id = (/** @type {number} */ n) => String(1_000_000_000 + n)
  const plain = new wire.PlainMessage()
  const pairing = new Correlator(wire.idKey)
  const lineEncoder = new MessageLineEncoder()
  const ids = new MessageIds(new Uint32Array(4))
  const target = bufferIn(memory, 1024)
  const line = {
    t: record.t,
    direction: record.direction,
    us: 1,
    seq: 1,
    bytes: inMemory,
    address: inMemory.byteOffset,
    start: 0,
    end: SIZE_BYTES - 1,
    id: 0,
    answers: undefined,
    late: false,
    duplicateOf: undefined,
  }
  /** The stages that every message passes, then those that only some messages pass. */
  const stages = {
    'short: one pass over the bytes': each((n) => plain.read(inMemory, n * SIZE_BYTES, inMemory.byteOffset)),
    'short: look for anything suspicious': each((n) =>
      redactor.isClean(inMemory, n * SIZE_BYTES, (n + 1) * SIZE_BYTES - 1, inMemory.byteOffset),
    ),
    'short: pair request and response': each((n) => {
      if (n % 2 === 0) pairing.observePlainRequest('client_to_server', n >> 1, n, 'bench/echo', null)
      else pairing.observePlainResult('server_to_client', n >> 1)
    }),
    'short: line of the tape': each((n) => {
      line.id = n
      line.start = n * SIZE_BYTES
      line.end = line.start + SIZE_BYTES - 1
      lineEncoder.write(line, ids, target, 0, target.byteOffset)
    }),
    'long: cut into lines': stage(rounds, () => void new wire.LineFramer({ borrowed: true }).push(bytes)),
    'long: bytes to text': each(
      (n) => void bytes.toString('latin1', n * SIZE_BYTES, (n + 1) * SIZE_BYTES - 1),
    ),
    'long: check the JSON': each(() => void wire.findJsonValue(text)),
    'long: look for anything suspicious': each(() => void redactor.json(text)),
    'long: envelope of objects': each(() => void wire.readEnvelope(text, 0)),
    'long: pair request and response': each((n) => {
      const direction = n % 2 === 0 ? 'client_to_server' : 'server_to_client'
      const kind = n % 2 === 0 ? 'request' : 'result'
      correlator.observe({ ref: 'x', envelope: { kind, id: id(n >> 1) }, direction, conversation: '' })
    }),
    'long: line of the tape': each(() => void encodeRecord(record)),
  }
  const ofThread = (/** @type {string} */ name, /** @type {number[]} */ costs) => ({
    name,
    unit: 'µs',
    values: {
      'first batches': median(costs.slice(0, COLD_BATCHES)),
      warm: median(costs.slice(rounds >> 1)),
    },
  })
  const measures = [
    ofThread('whole thread', whole),
    ofThread('whole thread, HTTP exchange', json.costs),
    ofThread('whole thread, HTTP exchange with an event stream', stream.costs),
    ...Object.entries(stages).map(([name, warm]) => ({
      name,
      unit: 'µs',
      values: { warm },
    })),
  ]
  const expected = 2 * PER_BATCH * rounds
  const problems =
    messages === expected && gaps === 0 && json.isWhole && stream.isWhole
      ? []
      : [`${expected} messages went in, the tape has ${messages}`]
  const warm = measures[0]?.values.warm ?? Number.NaN
  const verdicts = [
    {
      promise: 'one message of 100 B ≤ 2.5 µs of the recording thread',
      measured: `${warm.toFixed(1)} µs`,
      kept: warm <= 2.5,
    },
  ]
  return { lanes: ['first batches', 'warm'], measures, verdicts, books: { problems } }
}
