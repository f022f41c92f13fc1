// @ts-check
/** Large files: time and memory of import, convert and inspect, compared with a loop that parses each line. */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeLargeTape } from './lib/large-tape.mjs'
import { writeRecording } from './lib/recording-files.mjs'
import { sideBySide, within250MB } from './lib/side-by-side.mjs'

const BARE = 'readline + JSON.parse'
const OURS = 'wiretape'
const MOST_TIMES = 2

/**
 * A tape as wiretape writes it, with short messages.
 *
 * @param {string} file
 * @param {number} sizeBytes
 */
function ownTape(file, sizeBytes) {
  const messages = 2 * Math.round(sizeBytes / 790)
  return { messages, sizeBytes: makeLargeTape(file, messages) }
}

/**
 * @param {{ quick: boolean, cli: string, say: (line: string) => void }} options
 * @returns {Promise<import('./run.mjs').SuiteReport>}
 */
export async function run({ quick, cli, say }) {
  const sizeBytes = Number(process.env['BENCH_CONVERT_MB'] ?? (quick ? 100 : 1000)) * 1_000_000
  const folder = mkdtempSync(join(tmpdir(), 'wiretape-bench-'))
  /** @type {import('./run.mjs').SuiteReport['measures'][number][]} */
  const measures = []
  /** @type {import('./run.mjs').SuiteReport['verdicts'][number][]} */
  const verdicts = []
  /** @type {string[]} */
  const problems = []
  try {
    for (const format of /** @type {const} */ (['jsonrpc', 'trace-v1', 'own tape'])) {
      const file = join(folder, 'in')
      const made =
        format === 'own tape' ? ownTape(file, sizeBytes) : await writeRecording(file, format, sizeBytes)
      const megabytes = Math.round(made.sizeBytes / 1e6)
      say(`${format}: ${megabytes} MB, ${made.messages} messages`)
      const bareLoop = [join(import.meta.dirname, 'lib/bare-lines.mjs'), file]
      const out = join(folder, 'out')
      const works = [
        ...(format === 'jsonrpc'
          ? [
              {
                name: 'import',
                args: ['import', file, '--out-trace', out],
                proof: `Parsed ${made.messages} MCP`,
              },
            ]
          : []),
        ...['trace-v1', 'jsonrpc', 'session-json', 'csv']
          .filter((to) => to !== (format === 'own tape' ? 'trace-v1' : format))
          .map((to) => ({
            name: `convert to ${to}`,
            args: ['convert', '--force', '--to', to, file, out],
            proof: `: ${made.messages}`,
          })),
        {
          name: 'inspect with a filter',
          args: ['inspect', '--filter', 'tool:search status:error', file],
          proof: 'tools/call search',
        },
      ]
      for (const { name, args, proof } of works) {
        const title = `${format}, ${name}`
        // Each format has its own baseline run beside it, because the speed of a machine varies.
        const { own, ...told } = await sideBySide({
          rounds: quick ? 1 : 3,
          title,
          lanes: [BARE, OURS],
          base: bareLoop,
          own: [cli, ...args],
          mostTimes: MOST_TIMES,
          than: 'the bare loop',
        })
        if (!own.stdout.replaceAll(/(?<=\d),(?=\d{3})/g, '').includes(proof)) {
          problems.push(`${format}, ${name}: the output lacks "${proof}": ${own.stdout.slice(0, 200)}`)
        }
        measures.push(...told.measures)
        verdicts.push(told.verdict, within250MB(title, own.peakBytes))
        rmSync(out, { force: true })
      }
      if (statSync(file).size !== made.sizeBytes) problems.push(`${file} was changed`)
      rmSync(file)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return { lanes: [BARE, OURS], measures, verdicts, books: { problems } }
}
