// @ts-check
/** Two commands for the same work, run in turns because the speed of a machine varies. */
import { timed } from './timed.mjs'

/** @typedef {import('../run.mjs').SuiteReport} SuiteReport */

/**
 * The round with the median ratio of times.
 *
 * @param {object} options
 * @param {number} options.rounds
 * @param {string} options.title
 * @param {readonly [base: string, own: string]} options.lanes
 * @param {readonly string[]} options.base
 * @param {readonly string[]} options.own
 * @param {number} options.mostTimes
 * @param {string} options.than what the time is a multiple of, as a phrase
 */
export async function sideBySide({ rounds, title, lanes: [baseLane, ownLane], base, own, mostTimes, than }) {
  const pairs = []
  for (let round = 0; round < rounds; round += 1) {
    const first = await timed([...base])
    const second = await timed([...own])
    pairs.push({ base: first, own: second, times: second.seconds / first.seconds })
  }
  pairs.sort((a, b) => a.times - b.times)
  const middle = pairs[pairs.length >> 1]
  if (!middle) throw new Error('no round was measured')
  const { times } = middle
  /** @param {(run: { seconds: number, peakBytes: number }) => number} value */
  const values = (value) => ({ [baseLane]: value(middle.base), [ownLane]: value(middle.own) })
  return {
    own: middle.own,
    /** @type {SuiteReport['measures'][number][]} */
    measures: [
      { name: title, unit: 's', values: values(({ seconds }) => seconds), ratio: times },
      { name: `${title}: memory`, unit: 'MB', values: values(({ peakBytes }) => peakBytes / 1e6) },
    ],
    /** @type {SuiteReport['verdicts'][number]} */
    verdict: {
      promise: `${title} <= ${mostTimes} times ${than}`,
      measured: `${times.toFixed(2)} times`,
      kept: times <= mostTimes,
    },
  }
}

/**
 * @param {string} title
 * @param {number} peakBytes
 * @returns {SuiteReport['verdicts'][number]}
 */
export function within250MB(title, peakBytes) {
  return {
    promise: `${title} <= 250 MB resident`,
    measured: `${Math.round(peakBytes / 1e6)} MB`,
    kept: peakBytes <= 250 * 1000 * 1000,
  }
}
