// @ts-check
/** Measures lanes side by side and turns the results into rows of a table. */
import { median, pairedRatio, percentile } from './statistics.mjs'

/**
 * One line of the table: a number per lane.
 *
 * @template {string} Lane
 * @typedef {object} Measure
 * @property {string} name
 * @property {string} unit
 * @property {Partial<Record<Lane, number>>} values
 * @property {number} [ratio] wiretape / baseline.
 * @property {Partial<Record<Lane, number[]>>} [rounds]
 */

/** @typedef {{ promise: string, measured: string, kept: boolean }} Verdict */

/**
 * Measures the lanes in turn, round by round. Each round begins with another lane, so that disturbances of the machine
 * affect all lanes alike.
 *
 * @template {string} Lane
 * @template T
 * @param {readonly Lane[]} lanes
 * @param {number} rounds
 * @param {(lane: Lane) => Promise<T>} measure
 * @returns {Promise<Record<Lane, T[]>>} The results of each lane in order of the rounds.
 */
export async function interleaved(lanes, rounds, measure) {
  /** @type {Record<Lane, T[]>} */
  const results = perLane(lanes, () => [])
  for (let round = 0; round < rounds; round++) {
    const first = round % lanes.length
    for (const lane of [...lanes.slice(first), ...lanes.slice(0, first)])
      results[lane].push(await measure(lane))
  }
  return results
}

/**
 * @template {string} Lane
 * @template T
 * @param {readonly Lane[]} lanes
 * @param {(lane: Lane) => T} make
 */
export function perLane(lanes, make) {
  return /** @type {Record<Lane, T>} */ (Object.fromEntries(lanes.map((lane) => [lane, make(lane)])))
}

/**
 * @template {string} Lane
 * @param {string} name
 * @param {string} unit
 * @param {Record<Lane, number[]>} rounds
 * @param {NoInfer<Lane>} baseline
 * @param {(lane: Lane) => number} [value] Of a lane. @default the median of its rounds
 * @returns {Measure<Lane>}
 */
export function toMeasure(name, unit, rounds, baseline, value = (lane) => median(rounds[lane])) {
  const lanes = /** @type {Lane[]} */ (Object.keys(rounds))
  const ratio = pairedRatio(rounds[/** @type {Lane} */ ('wiretape')], rounds[baseline])
  return { name, unit, values: perLane(lanes, value), ratio, rounds }
}

/**
 * The median and the 99th percentile of the samples of all rounds.
 *
 * @template {string} Lane
 * @param {string} name
 * @param {string} unit
 * @param {Record<Lane, ArrayLike<number>[]>} rounds
 * @param {NoInfer<Lane>} baseline
 */
export function percentiles(name, unit, rounds, baseline) {
  const lanes = /** @type {Lane[]} */ (Object.keys(rounds))
  const all = perLane(lanes, (lane) => rounds[lane].flatMap((samples) => Array.from(samples)))
  return [0.5, 0.99].map((share) => {
    const perRound = perLane(lanes, (lane) =>
      rounds[lane].map((samples) => percentile(Array.from(samples), share)),
    )
    return toMeasure(`p${share * 100} ${name}`, unit, perRound, baseline, (lane) =>
      percentile(all[lane], share),
    )
  })
}
