// @ts-check
/**
 * `record --otlp` in front of a server from npm, with the official client, in both encodings: a receiver decodes every
 * export with the official definitions. Then Debian's Prometheus stores the histograms. It is older than Prometheus'
 * own OTLP receiver (2.47), so they are sent to its remote-write receiver, as a collector would do.
 *
 * Usage: node test/heavy/otlp.mjs
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { snappyCompress } from 'hyparquet-writer/src/snappy.js'
import { attributesOf, countOf, startReceiver } from '../telemetry/receiver.mjs'
import { ProtobufWriter } from '../../dist/formats/otlp/protobuf.js'

const root = resolve(import.meta.dirname, '../..')
const cli = join(root, 'dist/bin/wiretape.js')
const folder = mkdtempSync(join(tmpdir(), 'wiretape-otlp-test-'))
/** @type {string[]} */
const wrong = []
let checked = 0
try {
  for (const protocol of ['http/json', 'http/protobuf']) await session(protocol)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
for (const line of wrong) console.log(`WRONG  ${line}`)
console.log(wrong.length === 0 ? `${checked} checks hold` : `${wrong.length} of ${checked} are wrong`)
process.exitCode = wrong.length === 0 ? 0 : 1

/** @param {string} what @param {boolean} isTrue */
function holds(what, isTrue) {
  checked += 1
  if (!isTrue) wrong.push(what)
}

/** @param {string} protocol */
async function session(protocol) {
  const receiver = await startReceiver()
  const tapes = join(folder, protocol.replace('/', '-'))
  const server = join(root, 'node_modules/.bin/mcp-server-everything')
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [cli, 'record', '--out', tapes, '--otlp', receiver.url, '--otlp-protocol', protocol, '--', server],
    env: { ...stringsOf(process.env), OTEL_SERVICE_NAME: 'everything' },
  })
  const client = new Client({ name: 'otlp-test', version: '1' })
  await client.connect(transport)
  const { tools } = await client.listTools()
  for (let i = 0; i < 20; i += 1)
    await client.callTool({ name: 'echo', arguments: { message: `secret-${i}` } })
  await client.callTool({ name: 'no-such-tool', arguments: {} }).catch(() => undefined)
  await client.listPrompts()
  const { resources } = await client.listResources()
  if (resources[0]) await client.readResource({ uri: resources[0].uri })
  await until('spans while the session is open', () => receiver.spans().length >= 20)
  await client.close()
  await until('the last report', () =>
    receiver.metrics().some((report) => report['mcp.client.session.duration']),
  )

  const spans = receiver.spans()
  holds(
    `${protocol}: the definitions read everything: ${receiver.faults.join()}`,
    receiver.faults.length === 0,
  )
  holds(`${protocol}: no payload`, !JSON.stringify(receiver.requests).includes('secret-'))
  holds(`${protocol}: the server has tools`, tools.length > 0)
  const echoes = spans.filter(({ name }) => name === 'tools/call echo')
  holds(`${protocol}: a span a call`, echoes.length === 20)
  const failed = spans.find(({ name }) => name === 'tools/call no-such-tool')
  holds(
    `${protocol}: what failed says so`,
    failed?.status?.code === 2 && attributesOf(failed)['error.type'] !== undefined,
  )
  const [tape] = readdirSync(tapes)
  const converted = spawnSync(
    process.execPath,
    [cli, 'convert', '--to', 'otlp-json', join(tapes, `${tape}`), '-'],
    {
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    },
  )
  const same = JSON.parse(converted.stdout).resourceSpans[0].scopeSpans[0].spans
  holds(
    `${protocol}: convert writes the same spans`,
    JSON.stringify(sorted(same)) === JSON.stringify(sorted(spans)),
  )
  const last = receiver.metrics().at(-1) ?? {}
  const requests = spans.filter((span) => attributesOf(span)['jsonrpc.request.id'] !== undefined)
  const unmeasured = requests.filter((span) => attributesOf(span)['wiretape.unanswered']).length
  const measured = countOf(last['mcp.server.operation.duration'])
  holds(`${protocol}: each request is measured`, measured === requests.length - unmeasured)
  holds(`${protocol}: one session`, countOf(last['mcp.server.session.duration']) === 1)
  holds(`${protocol}: nothing was left out`, countOf(last['wiretape.telemetry.left_out']) === 0)
  await receiver.close()
  if (protocol === 'http/json') await prometheusHas(last)
}

/** @param {readonly any[]} spans */
function sorted(spans) {
  return spans
    .map(({ spanId, traceId, name, startTimeUnixNano, endTimeUnixNano, status, ...span }) => [
      spanId,
      traceId,
      name,
      startTimeUnixNano,
      endTimeUnixNano,
      status?.message,
      attributesOf(span),
    ])
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
}

/** @param {Record<string, any>} report */
async function prometheusHas(report) {
  if (spawnSync('prometheus', ['--version']).status !== 0)
    return console.log('left out: there is no prometheus command')
  const config = join(folder, 'prometheus.yml')
  writeFileSync(config, '')
  const free = createServer().listen(0, '127.0.0.1')
  await new Promise((done) => free.once('listening', () => done(undefined)))
  const own = portOf(free)
  await new Promise((done) => free.close(done))
  const prometheus = spawn(
    'prometheus',
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, 'tsdb')}`,
      `--web.listen-address=127.0.0.1:${own}`,
      '--web.enable-remote-write-receiver',
      '--log.level=error',
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  )
  /** @param {string} query @returns {Promise<number>} */
  const ask = async (query) => {
    const url = `http://127.0.0.1:${own}/api/v1/query?query=${encodeURIComponent(query)}`
    /** @type {any} */
    const reply = await fetch(url).then(
      // The response is 503 while Prometheus starts.
      (response) => (response.ok ? response.json() : undefined),
      () => undefined,
    )
    return Number(reply?.data?.result?.[0]?.value?.[1] ?? NaN)
  }
  try {
    const metric = 'mcp_server_operation_duration_seconds'
    const echo = '{gen_ai_tool_name="echo"}'
    const body = snappyCompress(writeRequest(Object.values(report).flatMap(seriesOf)))
    await until('Prometheus has taken the metrics', () =>
      hasTaken(`http://127.0.0.1:${own}/api/v1/write`, body),
    )
    holds('Prometheus counts the calls', (await ask(`sum(${metric}_count${echo})`)) === 20)
    const quantile = await ask(`histogram_quantile(0.5, sum by (le) (${metric}_bucket${echo}))`)
    holds(`Prometheus has a median of them: ${quantile} s`, quantile > 0 && quantile < 10)
    holds('Prometheus counts messages', (await ask('sum(wiretape_recorder_messages_total)')) > 40)
  } finally {
    prometheus.kill()
    await new Promise((done) => prometheus.once('exit', () => done(undefined)))
  }
}

/** @param {string} url @param {Uint8Array} body */
async function hasTaken(url, body) {
  const headers = {
    'Content-Type': 'application/x-protobuf',
    'Content-Encoding': 'snappy',
    'X-Prometheus-Remote-Write-Version': '0.1.0',
  }
  // The connection is refused, or the response is 503, while Prometheus starts.
  const status = await fetch(url, { method: 'POST', headers, body }).then(
    (response) => response.status,
    () => 503,
  )
  if (status !== 204 && status !== 503) throw new Error(`Prometheus refuses the metrics: ${status}`)
  return status === 204
}

/**
 * The series of a metric, named by OpenTelemetry's compatibility specification.
 *
 * @param {any} metric
 * @returns {Series[]}
 */
function seriesOf({ name, unit, histogram, sum, gauge }) {
  const base = name.replaceAll('.', '_') + (unit === 's' ? '_seconds' : '')
  if (!histogram) {
    const points = (sum ?? gauge).dataPoints
    return points.map((/** @type {any} */ point) =>
      series(sum ? `${base}_total` : base, point, Number(point.asInt ?? point.asDouble)),
    )
  }
  return histogram.dataPoints.flatMap((/** @type {any} */ point) => {
    let count = 0
    const buckets = point.bucketCounts.map((/** @type {string} */ bucket, /** @type {number} */ i) => {
      count += Number(bucket)
      return series(`${base}_bucket`, point, count, { le: String(point.explicitBounds[i] ?? '+Inf') })
    })
    return [
      ...buckets,
      series(`${base}_sum`, point, point.sum),
      series(`${base}_count`, point, Number(point.count)),
    ]
  })
}

/** @typedef {{ labels: [string, string][], value: number }} Series Labels sorted by name. */

/** @param {string} name @param {any} point @param {number} value @param {Record<string, string>} [more] @returns {Series} */
function series(name, point, value, more = {}) {
  const own = Object.entries(attributesOf({ attributes: point.attributes ?? [] }))
  /** @type {[string, string][]} */
  const labels = own.map(([key, text]) => [key.replaceAll('.', '_'), String(text)])
  labels.push(['__name__', name], ...Object.entries(more))
  return { labels: labels.toSorted(([a], [b]) => (a < b ? -1 : 1)), value }
}

/**
 * `prometheus.WriteRequest` of the remote-write protocol, version 1.
 *
 * @param {readonly Series[]} all
 */
function writeRequest(all) {
  const request = new ProtobufWriter()
  for (const { labels, value } of all)
    request.message(1, (timeSeries) => {
      for (const [name, text] of labels)
        timeSeries.message(1, (label) => {
          label.text(1, name)
          label.text(2, text)
        })
      timeSeries.message(2, (sample) => {
        sample.double(1, value)
        sample.varint(2, Date.now())
      })
    })
  return request.finish()
}

/** @param {import('node:http').Server} server */
function portOf(server) {
  return /** @type {import('node:net').AddressInfo} */ (server.address()).port
}

/** @param {NodeJS.ProcessEnv} env @returns {Record<string, string>} */
function stringsOf(env) {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}

/** @param {string} what @param {() => unknown} check */
async function until(what, check) {
  for (const deadline = Date.now() + 60_000; !(await check()); await setTimeout(20))
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}`)
}
