// @ts-check
/** A receiver of OTLP over HTTP that reads everything with the official definitions. */
import { createServer } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { partialSuccess, readExport } from './otlp-judge.mjs'

/**
 * The reply of a test to an export: a status, a refused part, or nothing at all.
 *
 * @typedef {{ status?: number, headers?: Record<string, string>, body?: string, rejected?: number, silent?: true }} Reply
 * @typedef {{ signal: 'traces' | 'metrics', headers: import('node:http').IncomingHttpHeaders, sent: any, taken: boolean }} Request
 */

/**
 * @param {(signal: 'traces' | 'metrics', count: number) => Reply | undefined} [reply] To the request of this number of its
 *   signal, from 0. @default takes everything
 */
export async function startReceiver(reply = () => undefined) {
  /** @type {Request[]} */
  const requests = []
  /** @type {string[]} */
  const faults = []
  const counts = { traces: 0, metrics: 0 }
  const server = createServer((request, response) => {
    /** @type {Buffer[]} */
    const chunks = []
    request.on('error', () => undefined)
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const signal =
        request.url === '/v1/traces' ? 'traces' : request.url === '/v1/metrics' ? 'metrics' : undefined
      if (!signal || request.method !== 'POST') {
        faults.push(`${request.method} ${request.url}`)
        return void response.writeHead(404).end()
      }
      const type = request.headers['content-type'] ?? ''
      try {
        const raw = Buffer.concat(chunks)
        const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw
        const sent = readExport(signal, type, body)
        const { status = 200, headers, body: text, rejected, silent } = reply(signal, counts[signal]) ?? {}
        counts[signal] += 1
        requests.push({ signal, headers: request.headers, sent, taken: status === 200 && !silent })
        if (silent) return
        response.writeHead(status, { 'Content-Type': type, ...headers })
        if (rejected !== undefined) response.end(partialSuccess(signal, type, rejected, 'too old'))
        else response.end(text ?? (type === 'application/json' ? '{}' : ''))
      } catch (error) {
        faults.push(String(error))
        response.writeHead(400).end()
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await new Promise((done) => server.once('listening', () => done(undefined)))
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  const taken = () => requests.filter((request) => request.taken)

  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    /** Violations of the definitions. */
    faults,
    /** Spans that were taken, in their order. @returns {any[]} */
    spans: () =>
      taken()
        .flatMap(({ signal, sent }) => (signal === 'traces' ? sent.resourceSpans : []))
        .flatMap((of) => of.scopeSpans)
        .flatMap((of) => of.spans),
    /** Reports of metrics that were taken: each by the names of its metrics. @returns {Record<string, any>[]} */
    metrics: () =>
      taken()
        .filter(({ signal }) => signal === 'metrics')
        .map(({ sent }) =>
          Object.fromEntries(
            sent.resourceMetrics[0].scopeMetrics[0].metrics.map((/** @type {any} */ one) => [one.name, one]),
          ),
        ),
    close() {
      server.closeAllConnections()
      return new Promise((done) => server.close(() => done(undefined)))
    },
  }
}

/** @param {any} of @returns {Record<string, any>} */
export function attributesOf(of) {
  return Object.fromEntries(
    of.attributes.map((/** @type {any} */ { key, value }) => [key, Object.values(value)[0]]),
  )
}

/** The sum of a counter over its points. @param {any} metric @returns {number} */
export function countOf(metric) {
  const points = (metric.sum ?? metric.gauge ?? metric.histogram).dataPoints
  return points.reduce(
    (/** @type {number} */ sum, /** @type {any} */ { asInt, asDouble, count }) =>
      sum + Number(asInt ?? asDouble ?? count),
    0,
  )
}
