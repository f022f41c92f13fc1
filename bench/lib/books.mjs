// @ts-check
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { countTapes } from './tape-count.mjs'

export const root = resolve(import.meta.dirname, '../..')

/**
 * Counts the messages sent through `wiretape record` and compares them with its tapes. Owns the folder of the tapes.
 *
 * @param {string} cli The built command line.
 */
export function openBooks(cli) {
  if (!existsSync(cli))
    throw new Error(`${relative(process.cwd(), cli)} is not there: run npm run build first`)
  const folder = join(root, 'build/bench')
  mkdirSync(folder, { recursive: true })
  const tapes = mkdtempSync(join(folder, 'tapes-'))

  const books = {
    /** Messages sent through `wiretape record`, both directions. */
    sent: 0,
    /** Messages found on its tapes. */
    onTape: 0,
    gaps: 0,
    tapes: 0,
    /** @type {string[]} */
    problems: [],
  }

  return {
    books,

    /** @returns A new folder to record to. */
    tapeFolder: () => mkdtempSync(join(tapes, 'run-')),

    /**
     * @param {string} name The measurement, for reports of problems.
     * @param {string} tape The folder of the recording.
     * @param {{ in: number, out: number }} expected
     */
    async enter(name, tape, expected) {
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
    },

    close: () => rmSync(tapes, { recursive: true, force: true }),
  }
}

/** @typedef {ReturnType<typeof openBooks>['books']} Books */

/** @param {Books} books */
export function judgeBooks(books) {
  return [
    { promise: 'gaps = 0', measured: `${books.gaps} in ${books.tapes} tapes`, kept: books.gaps === 0 },
    {
      promise: 'messages on the tapes = messages sent',
      measured: `${books.onTape} of ${books.sent}`,
      kept: books.onTape === books.sent,
    },
  ]
}
