// @ts-check
/** The cost of recording on stdio: direct, through a bare pipe that records nothing, and through `wiretape record`. */
import { join } from 'node:path'
import { judgeBooks, root } from './lib/books.mjs'
import { createTrack, LANES } from './lib/lanes.mjs'
import { interleaved, percentiles, toMeasure } from './lib/measures.mjs'
import { residentSet, watchResidentSet } from './lib/resident-set.mjs'
import { pairedDifference } from './lib/statistics.mjs'

/** @typedef {ReturnType<typeof createTrack>} Track */
/** @typedef {import('./lib/lanes.mjs').Lane} Lane */
/** @typedef {typeof FULL} Plan */

/** @typedef {import('./lib/measures.mjs').Measure<Lane>} Measure */
/** @typedef {import('./lib/measures.mjs').Verdict} Verdict */

const echoServer = [join(root, 'bench/servers/echo-rpc.mjs')]
/** Parses and serializes, as real servers do. */
const parsingServer = [join(root, 'bench/servers/echo-parse.mjs')]
const floodServer = join(root, 'test/fixtures/servers/flood.mjs')
const SMALL = 100
const LARGE = 100_000
const MB = 1024 * 1024
/** The pause between a response and the client's next request. */
const PAUSE_MS = 2
const BASELINE = 'bare pipe'
/** Round trips of a session that has lasted for a second. */
const LATER = '100 B, later'

const FULL = {
  latency: { rounds: 9, small: 8000, large: 800, compiled: 12_000 },
  rate: { rounds: 8, small: 120_000, large: 2000 },
  flood: { rounds: 5, burst: 30_000, sustained: 300_000, large: 600 },
  start: { rounds: 21 },
  close: { rounds: 7, exchanges: 15_000 },
  stalled: { messages: 300_000, sizeBytes: 1000, stableMs: 2500, atLeastMs: 4000, atMostMs: 10_000 },
  long: { exchanges: 300_000, sizeBytes: 300 },
}

/** @type {Plan} */
const QUICK = {
  latency: { rounds: 2, small: 1500, large: 150, compiled: 3_000 },
  rate: { rounds: 2, small: 20_000, large: 300 },
  flood: { rounds: 1, burst: 30_000, sustained: 60_000, large: 100 },
  start: { rounds: 3 },
  close: { rounds: 1, exchanges: 15_000 },
  stalled: { messages: 60_000, sizeBytes: 1000, stableMs: 1000, atLeastMs: 1500, atMostMs: 3000 },
  long: { exchanges: 30_000, sizeBytes: 300 },
}

/**
 * @param {Track} track
 * @param {Plan} plan
 * @param {number} sizeBytes
 * @param {string} size
 * @param {{ pauseMs?: number, before?: number }} [options] The client waits `pauseMs` before it asks again. So many round
 *   trips are not measured. @default 0, a quarter of the others
 */
async function measureLatency(track, plan, sizeBytes, size, { pauseMs = 0, before } = {}) {
  const count = sizeBytes === SMALL ? plan.latency.small : plan.latency.large
  const rounds = await interleaved(LANES, plan.latency.rounds, async (lane) => {
    const { value } = await track.run(`round trip ${size}`, lane, echoServer, async (client) => {
      await client.pingPong({ count: before ?? Math.ceil(count / 4), sizeBytes })
      return client.pingPong({ count, sizeBytes, pauseMs })
    })
    return value
  })
  return percentiles(`round trip, ${size}`, 'µs', rounds, BASELINE)
}

/** @param {Track} track @param {Plan} plan */
async function measureRates(track, plan) {
  const measures = []
  for (const { name, unit, sizeBytes, count, window, scale } of [
    {
      name: 'messages per second, 100 B',
      unit: '/s',
      sizeBytes: SMALL,
      count: plan.rate.small,
      window: 128,
      scale: 2 * 1000,
    },
    {
      name: 'throughput each way, 100 kB',
      unit: 'MB/s',
      sizeBytes: LARGE,
      count: plan.rate.large,
      window: 16,
      scale: LARGE / 1000,
    },
  ]) {
    const perRound = await interleaved(LANES, plan.rate.rounds, async (lane) => {
      const { value } = await track.run(name, lane, echoServer, async (client) => {
        await client.pipeline({ count: Math.ceil(count / 10), sizeBytes, window })
        return client.pipeline({ count, sizeBytes, window })
      })
      return (count / value) * scale
    })
    measures.push(toMeasure(name, unit, perRound, BASELINE))
  }
  return measures
}

/** The lanes of a flood. The line log shows the cost of writing each line. @type {readonly Lane[]} */
const FLOOD_LANES = ['bare pipe', 'line log', 'wiretape']

/**
 * Measures floods: the client sends all requests at once.
 *
 * @param {Track} track @param {Plan} plan
 */
async function measureFloods(track, plan) {
  const { rounds, burst, sustained, large } = plan.flood
  const measures = []
  for (const [count, sizeBytes, size] of /** @type {const} */ ([
    [burst, SMALL, '100 B'],
    [sustained, SMALL, '100 B'],
    [large, LARGE, '100 kB'],
  ])) {
    const name = `${count.toLocaleString('en')} × ${size} at once`
    const perRound = await interleaved(FLOOD_LANES, rounds, async (lane) => {
      const { value } = await track.run(name, lane, parsingServer, async (client) => {
        await client.pingPong({ count: 1, sizeBytes })
        return client.pipeline({ count, sizeBytes, window: count })
      })
      return (count / value) * 1000
    })
    measures.push(toMeasure(name, '/s', perRound, BASELINE))
  }
  return measures
}

/** @param {Track} track @param {Plan} plan */
async function measureStart(track, plan) {
  const perRound = await interleaved(LANES, plan.start.rounds, async (lane) => {
    const { value } = await track.run('first answer', lane, echoServer, async (client) => {
      await client.pingPong({ count: 1, sizeBytes: SMALL })
      return performance.now() - client.startedAt
    })
    return value
  })
  return toMeasure('first answer', 'ms', perRound, BASELINE)
}

/** @param {Track} track @param {Plan} plan */
async function measureClose(track, plan) {
  const { rounds, exchanges } = plan.close
  const perRound = await interleaved(LANES, rounds, async (lane) => {
    const { closeMs } = await track.run('close after a flood', lane, echoServer, (client) =>
      client.pipeline({ count: exchanges, sizeBytes: SMALL, window: 1024 }),
    )
    return closeMs
  })
  return toMeasure(`close after ${exchanges * 2} messages`, 'ms', perRound, BASELINE)
}

/** The client stops reading while the server floods. Then it reads on, and every message must arrive. */
async function measureStalled(/** @type {Track} */ track, /** @type {Plan} */ plan) {
  const { messages, sizeBytes, stableMs, atLeastMs, atMostMs } = plan.stalled
  /** @type {Measure} */
  const measure = { name: 'peak RSS, client stops reading', unit: 'MB', values: {} }
  for (const lane of /** @type {const} */ (['bare pipe', 'wiretape'])) {
    const flood = [floodServer, String(messages), String(sizeBytes), '--stay']
    const use = async (/** @type {import('./lib/lanes.mjs').Client} */ client) => {
      const watch = watchResidentSet(client.pid)
      await untilStable(client.pid, { stableMs, atLeastMs, atMostMs })
      const received = await client.readUntil(messages * sizeBytes)
      watch.stop()
      if (received !== messages * sizeBytes)
        throw new Error(`${received} bytes came, not ${messages * sizeBytes}`)
      return watch.read().peakBytes
    }
    const { value } = await track.run('stalled client', lane, flood, use, { in: 0, out: messages })
    measure.values[lane] = value / MB
  }
  return measure
}

/**
 * Waits until a process has stopped growing.
 *
 * @param {number} pid
 * @param {{ stableMs: number, atLeastMs: number, atMostMs: number }} limits
 */
function untilStable(pid, { stableMs, atLeastMs, atMostMs }) {
  const start = performance.now()
  let highest = 0
  let grewAt = start
  /** @type {Promise<void>} */
  const stable = new Promise((done) => {
    const timer = setInterval(() => {
      const now = performance.now()
      const bytes = residentSet(pid)?.bytes ?? 0
      if (bytes > highest * 1.01) {
        highest = bytes
        grewAt = now
      }
      if (now - start < atMostMs && (now - start < atLeastMs || now - grewAt < stableMs)) return
      clearInterval(timer)
      done()
    }, 50)
  })
  return stable
}

/** @param {Track} track @param {Plan} plan */
async function measureLongSession(track, plan) {
  const { exchanges, sizeBytes } = plan.long
  /** @type {Measure} */
  const atEnd = { name: `RSS after ${exchanges * 2} messages`, unit: 'MB', values: {} }
  /** @type {Measure} */
  const peak = { name: `peak RSS, ${exchanges * 2} messages`, unit: 'MB', values: {} }
  for (const lane of /** @type {const} */ (['bare pipe', 'wiretape'])) {
    const { value } = await track.run('long session', lane, echoServer, async (client) => {
      const watch = watchResidentSet(client.pid)
      await client.pipeline({ count: exchanges, sizeBytes, window: 128 })
      watch.stop()
      return watch.read()
    })
    atEnd.values[lane] = value.endBytes / MB
    peak.values[lane] = value.peakBytes / MB
  }
  return [atEnd, peak]
}

/** @param {Measure[]} measures @param {Track['books']} books @returns {Verdict[]} */
function judge(measures, books) {
  const find = (/** @type {string} */ name) => measures.find((measure) => measure.name === name)
  /** @type {Verdict[]} */
  const verdicts = []
  for (const [size, most] of /** @type {const} */ ([
    ['100 B', 1.1],
    ['100 kB', 1.25],
    [`100 kB, ${PAUSE_MS} ms apart`, 1.25],
  ])) {
    const ratio = find(`p50 round trip, ${size}`)?.ratio ?? Number.NaN
    verdicts.push({
      promise: `p50 round trip at ${size} ≤ ${most} × bare pipe`,
      measured: `${ratio.toFixed(2)} ×`,
      kept: ratio <= most,
    })
  }
  for (const size of ['100 B', LATER]) {
    const tail = find(`p99 round trip, ${size}`)?.ratio ?? Number.NaN
    verdicts.push({
      promise: `p99 round trip at ${size} ≤ 1.25 × bare pipe`,
      measured: `${tail.toFixed(2)} ×`,
      kept: tail <= 1.25,
    })
  }
  const lines = find('messages per second, 100 B')?.values.wiretape ?? Number.NaN
  verdicts.push({
    promise: '100 B that no peer parses ≥ 200,000 messages per second',
    measured: Math.round(lines).toLocaleString('en'),
    kept: lines >= 200_000,
  })
  const floods = measures.filter(({ name }) => name.endsWith(' at once'))
  for (const [i, least] of [0.7, 0.55, 0.9].entries()) {
    const ratio = floods[i]?.ratio ?? Number.NaN
    verdicts.push({
      promise: `${floods[i]?.name} ≥ ${least} × bare pipe`,
      measured: `${ratio.toFixed(2)} ×`,
      kept: ratio >= least,
    })
  }
  const throughput = find('throughput each way, 100 kB')?.ratio ?? Number.NaN
  verdicts.push({
    promise: 'throughput at 100 kB ≥ 0.8 × bare pipe',
    measured: `${throughput.toFixed(2)} ×`,
    kept: throughput >= 0.8,
  })
  const first = find('first answer')?.rounds ?? {}
  const later = pairedDifference(first.wiretape ?? [], first['bare pipe'] ?? [])
  verdicts.push({
    promise: 'first answer ≤ bare pipe + 40 ms',
    measured: `${later < 0 ? '−' : '+'} ${Math.abs(later).toFixed(0)} ms`,
    kept: later <= 40,
  })
  for (const measure of measures.filter(({ name }) => name.startsWith('peak RSS'))) {
    const peak = measure.values.wiretape ?? Number.NaN
    verdicts.push({
      promise: `${measure.name} ≤ 120 MB`,
      measured: `${peak.toFixed(0)} MB`,
      kept: peak <= 120,
    })
  }
  verdicts.push(...judgeBooks(books))
  return verdicts
}

/**
 * @param {{ quick: boolean, cli: string, say: (line: string) => void }} options
 * @returns {Promise<{ lanes: readonly Lane[], measures: Measure[], verdicts: Verdict[], books: Track['books'] }>}
 *   `books.problems` is empty when every message is on its tape.
 */
export async function run({ quick, cli, say }) {
  const plan = quick ? QUICK : FULL
  const track = createTrack(cli)
  /** @type {Measure[]} */
  const measures = []
  try {
    say('round trips…')
    measures.push(...(await measureLatency(track, plan, SMALL, '100 B')))
    // The engines of all programs compile during the first round trips.
    const { compiled } = plan.latency
    measures.push(...(await measureLatency(track, plan, SMALL, LATER, { before: compiled })))
    measures.push(...(await measureLatency(track, plan, LARGE, '100 kB')))
    // Without a pause, the recorder keeps a processor busy all the time: that would measure the machine's rate, not its
    // latency.
    measures.push(
      ...(await measureLatency(track, plan, LARGE, `100 kB, ${PAUSE_MS} ms apart`, { pauseMs: PAUSE_MS })),
    )
    say('rates…')
    measures.push(...(await measureRates(track, plan)))
    say('floods…')
    measures.push(...(await measureFloods(track, plan)))
    say('start and close…')
    measures.push(await measureStart(track, plan), await measureClose(track, plan))
    if (residentSet(process.pid) === undefined) {
      say('memory: skipped, there is no /proc here')
    } else {
      say('memory…')
      measures.push(await measureStalled(track, plan), ...(await measureLongSession(track, plan)))
    }
  } finally {
    track.close()
  }
  return {
    lanes: [...LANES, 'line log'],
    measures,
    verdicts: judge(measures, track.books),
    books: track.books,
  }
}
