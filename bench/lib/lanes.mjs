// @ts-check
/** The lanes from a stdio client to the server. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { openBooks } from './books.mjs'
import { startClient } from './client.mjs'

/** @typedef {'direct' | 'bare pipe' | 'line log' | 'wiretape' | 'with 50 rules' | 'with findings' | 'with 3 onlookers'} Lane */
/** @typedef {ReturnType<typeof startClient>} Client */

/** Every rule of findings that can stop a message. */
const findings = [
  'protocol/schema',
  'protocol/direction',
  'schemas/output',
  'safety/hidden-text',
  'safety/changed-definition',
  'safety/elicited-secret',
].flatMap((rule) => ['--on-finding', `${rule}=block`])

const barePipe = join(import.meta.dirname, 'bare-pipe.mjs')
const linePipe = join(import.meta.dirname, 'line-pipe.mjs')
/** Lanes without a tape. @type {readonly Lane[]} */
const UNRECORDED = ['direct', 'bare pipe', 'line log']

/** Lanes of every suite. @type {readonly Lane[]} */
export const LANES = ['direct', 'bare pipe', 'wiretape']

/**
 * @param {string} cli The built command line.
 * @param {readonly string[]} [rules] Options of `record` in the lane that has rules. @default none
 */
export function createTrack(cli, rules = []) {
  const ledger = openBooks(cli)
  const { books } = ledger

  return {
    books,
    close: () => ledger.close(),

    /**
     * Starts a lane, runs `use` with its client, closes it, checks its exit and its tape, and deletes the tape.
     *
     * @template T
     * @param {string} name The measurement.
     * @param {Lane} lane
     * @param {readonly string[]} server Script and arguments, for Node.
     * @param {(client: Client) => Promise<T>} use
     * @param {{ in: number, out: number }} [expected] Messages by direction. @default as many as exchanges made
     */
    async run(name, lane, server, use, expected) {
      const tape = ledger.tapeFolder()
      const serverCommand = [process.execPath, ...server]
      const record = [cli, 'record', '--out', tape, '--label', 'bench', '--quiet']
      const client = startClient(
        {
          direct: serverCommand,
          'bare pipe': [process.execPath, barePipe, ...serverCommand],
          'line log': [process.execPath, linePipe, join(tape, 'lines.jsonl'), ...serverCommand],
          wiretape: [process.execPath, ...record, '--', ...serverCommand],
          'with 3 onlookers': [process.execPath, ...record, '--', ...serverCommand],
          'with 50 rules': [process.execPath, ...record, ...rules, '--', ...serverCommand],
          'with findings': [process.execPath, ...record, ...findings, '--', ...serverCommand],
        }[lane],
      )
      try {
        const value = await use(client)
        const closed = await client.close()
        if (closed.code !== 0) books.problems.push(`${name}, ${lane}: exit ${closed.signal ?? closed.code}`)
        const exchanges = client.exchanges()
        const count = UNRECORDED.includes(lane)
          ? undefined
          : await ledger.enter(name, tape, expected ?? { in: exchanges, out: exchanges })
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
  }
}
