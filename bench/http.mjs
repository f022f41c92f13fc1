// @ts-check
/**
 * The cost of recording over HTTP: direct, through a bare proxy that records nothing, and through `wiretape record` as
 * reverse proxy, as forward proxy and as bridge in either direction.
 */
import { setTimeout } from 'node:timers/promises'
import { judgeBooks } from './lib/books.mjs'
import { HTTP_LANES, openHttpLanes } from './lib/http-lanes.mjs'
import { interleaved, percentiles, toMeasure } from './lib/measures.mjs'
import { pairedDifference } from './lib/statistics.mjs'

/** @typedef {Awaited<ReturnType<typeof openHttpLanes>>} Opened */
/** @typedef {import('./lib/http-lanes.mjs').HttpLane} HttpLane */
/** @typedef {import('./lib/measures.mjs').Measure<HttpLane>} Measure */
/** @typedef {import('./lib/measures.mjs').Verdict} Verdict */
/** @typedef {typeof FULL} Plan */

const BASELINE = 'bare proxy'
const CONNECTIONS = 32
const EVERY_MS = 1
/** In processes that have handled many requests, as those of HTTP servers usually have. */
const LATER = 'round trip, later'
const RATE = `requests per second, ${CONNECTIONS} connections`

/** A pause between lanes, so that one lane's remaining work does not slow the next one. */
const SETTLE_MS = 100

/** Each measurement has a fixed time, not a fixed count: on a busy machine it takes fewer samples, not longer. */
const FULL = {
  warm: { count: 10_000, forMs: 12_000 },
  latency: { rounds: 9, forMs: 600 },
  rate: { rounds: 9, forMs: 600 },
  events: { rounds: 5, count: 700 },
}

/** @type {Plan} */
const QUICK = {
  warm: { count: 3000, forMs: 4000 },
  latency: { rounds: 3, forMs: 400 },
  rate: { rounds: 3, forMs: 400 },
  events: { rounds: 3, count: 200 },
}

/**
 * @template T
 * @param {Opened['clients']} clients
 * @param {number} rounds
 * @param {(client: import('./lib/http-client.mjs').HttpClient) => Promise<T>} measure
 */
function inTurns(clients, rounds, measure) {
  return interleaved(HTTP_LANES, rounds, async (lane) => {
    try {
      const value = await measure(clients[lane])
      await setTimeout(SETTLE_MS)
      return value
    } catch (problem) {
      throw new Error(`${lane}: ${problem instanceof Error ? problem.message : String(problem)}`, {
        cause: problem,
      })
    }
  })
}

/**
 * @param {Opened['clients']} clients
 * @param {Plan} plan
 * @param {(line: string) => void} say
 */
async function measureAll(clients, { warm, latency, rate, events }, say) {
  say('warming up…')
  // The client's own code is not compiled yet in the first lane: this run warms it up.
  await clients.direct.roundTrips(warm)
  await inTurns(clients, 1, (client) => client.roundTrips(warm))

  say('round trips…')
  const roundTrips = await inTurns(clients, latency.rounds, (client) => client.roundTrips(latency))

  say('event streams…')
  const stream = { events: events.count, everyMs: EVERY_MS }
  await inTurns(clients, 1, (client) => client.eventDelays(stream))
  const delays = await inTurns(clients, events.rounds, (client) => client.eventDelays(stream))

  say('rate…')
  const burst = { connections: CONNECTIONS, forMs: rate.forMs }
  await inTurns(clients, 1, (client) => client.rate(burst))
  const rates = await inTurns(clients, rate.rounds, (client) => client.rate(burst))

  say('round trips, later…')
  const later = await inTurns(clients, latency.rounds, (client) => client.roundTrips(latency))

  return [
    ...percentiles('round trip', 'µs', roundTrips, BASELINE),
    toMeasure(RATE, '/s', rates, BASELINE),
    ...percentiles('SSE event, server to client', 'µs', delays, BASELINE),
    ...percentiles(LATER, 'µs', later, BASELINE),
  ]
}

/** @param {readonly Measure[]} measures @param {Opened['books']} books @returns {Verdict[]} */
function judge(measures, books) {
  const find = (/** @type {string} */ name) => measures.find((measure) => measure.name === name)
  const event = find('p50 SSE event, server to client')
  const delay = event?.ratio ?? Number.NaN
  const laterMs = pairedDifference(event?.rounds?.wiretape ?? [], event?.rounds?.[BASELINE] ?? []) / 1000
  const roundTrips = ['round trip', LATER].flatMap(
    (name) =>
      /** @type {const} */ ([
        [`p50 ${name}`, 1.15],
        [`p99 ${name}`, 1.25],
      ]),
  )
  const rate = find(RATE)?.ratio ?? Number.NaN
  return [
    ...roundTrips.map(([name, most]) => {
      const ratio = find(name)?.ratio ?? Number.NaN
      return {
        promise: `${name} ≤ ${most} × bare proxy`,
        measured: `${ratio.toFixed(2)} ×`,
        kept: ratio <= most,
      }
    }),
    { promise: `${RATE} ≥ 0.75 × bare proxy`, measured: `${rate.toFixed(2)} ×`, kept: rate >= 0.75 },
    {
      promise: 'SSE events never wait for one another (p50 ≤ 1.25 × bare proxy, or + 1 ms)',
      measured: `${delay.toFixed(2)} ×, ${laterMs < 0 ? '−' : '+'} ${Math.abs(laterMs).toFixed(2)} ms`,
      kept: delay <= 1.25 || laterMs <= 1,
    },
    ...judgeBooks(books),
  ]
}

/**
 * @param {{ quick: boolean, cli: string, say: (line: string) => void }} options
 * @returns {Promise<{ lanes: readonly HttpLane[], measures: Measure[], verdicts: Verdict[], books: Opened['books'] }>}
 *   `books.problems` is empty when every message is on its tape.
 */
export async function run({ quick, cli, say }) {
  const plan = quick ? QUICK : FULL
  const { clients, books, finish, close } = await openHttpLanes(cli)
  try {
    const measures = await measureAll(clients, plan, say)
    await finish()
    return { lanes: HTTP_LANES, measures, verdicts: judge(measures, books), books }
  } finally {
    await close()
  }
}
