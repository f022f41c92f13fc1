// @ts-check
/** The three ways from the client to the server, and the books about what went through them. */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { startClient } from './client.mjs'
import { countTapes } from './tape-count.mjs'

/** @typedef {'direct' | 'bare pipe' | 'wiretape'} Lane */
/** @typedef {ReturnType<typeof startClient>} Client */

export const root = resolve(import.meta.dirname, '../..')
const barePipe = join(import.meta.dirname, 'bare-pipe.mjs')

/** @type {readonly Lane[]} */
export const LANES = ['direct', 'bare pipe', 'wiretape']

/**
 * @param {string} cli The built command line.
 */
export function createTrack(cli) {
  if (!existsSync(cli))
    throw new Error(`${relative(process.cwd(), cli)} is not there: run npm run build first`)
  const folder = join(root, 'build/bench')
  mkdirSync(folder, { recursive: true })
  const tapes = mkdtempSync(join(folder, 'tapes-'))

  const books = {
    /** Messages that went through `wiretape record`, both directions. */
    sent: 0,
    /** Messages that its tapes hold. */
    onTape: 0,
    gaps: 0,
    tapes: 0,
    /** @type {string[]} */
    problems: [],
  }

  /**
   * @param {string} name What ran, for the report of a problem.
   * @param {string} tape The folder it recorded to.
   * @param {{ in: number, out: number }} expected
   */
  async function enter(name, tape, expected) {
    const count = await countTapes(tape)
    books.tapes++
    books.sent += expected.in + expected.out
    books.onTape += count.in + count.out
    books.gaps += count.gaps
    for (const dir of /** @type {const} */ (['in', 'out'])) {
      if (count[dir] !== expected[dir]) {
        books.problems.push(`${name}: ${expected[dir]} messages went ${dir}, the tape has ${count[dir]}`)
      }
    }
    if (count.gaps > 0) books.problems.push(`${name}: ${count.gaps} gaps`)
    if (!count.closed) books.problems.push(`${name}: the tape has no end line`)
    return count
  }

  return {
    books,

    /**
     * Starts a lane, lets `use` work with it, closes it, checks its exit and its tape, and deletes the tape.
     *
     * @template T
     * @param {string} name What is measured.
     * @param {Lane} lane
     * @param {readonly string[]} server Script and arguments, for Node.
     * @param {(client: Client) => Promise<T>} use
     * @param {{ in: number, out: number }} [expected] Messages by direction. @default as many as exchanges made
     */
    async run(name, lane, server, use, expected) {
      const tape = mkdtempSync(join(tapes, 'run-'))
      const serverCommand = [process.execPath, ...server]
      const record = [cli, 'record', '--out', tape, '--label', 'bench', '--quiet', '--']
      const client = startClient(
        {
          direct: serverCommand,
          'bare pipe': [process.execPath, barePipe, ...serverCommand],
          wiretape: [process.execPath, ...record, ...serverCommand],
        }[lane],
      )
      try {
        const value = await use(client)
        const closed = await client.close()
        if (closed.code !== 0) books.problems.push(`${name}, ${lane}: exit ${closed.signal ?? closed.code}`)
        const exchanges = client.exchanges()
        const count =
          lane === 'wiretape'
            ? await enter(name, tape, expected ?? { in: exchanges, out: exchanges })
            : undefined
        return { value, closeMs: closed.tookMs, tapeBytes: count?.bytes ?? 0 }
      } catch (problem) {
        client.kill()
        throw new Error(`${name}, ${lane}: ${problem instanceof Error ? problem.message : String(problem)}`, {
          cause: problem,
        })
      } finally {
        rmSync(tape, { recursive: true, force: true })
      }
    },

    close: () => rmSync(tapes, { recursive: true, force: true }),
  }
}

/**
 * Measures the lanes in turn, round by round, each round beginning with another lane: what the machine does
 * meanwhile hits all alike.
 *
 * @template T
 * @param {number} rounds
 * @param {(lane: Lane) => Promise<T>} measure
 * @returns {Promise<Record<Lane, T[]>>} The results of each lane in order of the rounds.
 */
export async function interleaved(rounds, measure) {
  /** @type {Record<Lane, T[]>} */
  const results = { direct: [], 'bare pipe': [], wiretape: [] }
  for (let round = 0; round < rounds; round++) {
    const first = round % LANES.length
    for (const lane of [...LANES.slice(first), ...LANES.slice(0, first)])
      results[lane].push(await measure(lane))
  }
  return results
}
