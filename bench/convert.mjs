// @ts-check
/** Large files: time and memory of import, convert and inspect, compared with a loop that parses each line. */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeRecording } from './lib/recording-files.mjs'
import { timed } from './lib/timed.mjs'

const BARE = 'readline + JSON.parse'
const OURS = 'wiretape'
const MOST_TIMES = 3
const MOST_BYTES = 250 * 1000 * 1000

/** @returns {never} */
function unreachable() {
  throw new Error('no round was measured')
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
    for (const format of /** @type {const} */ (['jsonrpc', 'trace-v1'])) {
      const file = join(folder, `in.${format}`)
      const made = await writeRecording(file, format, sizeBytes)
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
          .filter((to) => to !== format)
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
        // Each format has its own baseline run beside it, because the speed of a machine varies.
        const pairs = []
        for (let round = 0; round < (quick ? 1 : 3); round += 1) {
          pairs.push({ bare: await timed(bareLoop), ours: await timed([cli, ...args]) })
        }
        pairs.sort((a, b) => a.ours.seconds / a.bare.seconds - b.ours.seconds / b.bare.seconds)
        const { bare, ours } = pairs[pairs.length >> 1] ?? unreachable()
        if (!ours.stdout.replaceAll(/(?<=\d),(?=\d{3})/g, '').includes(proof)) {
          problems.push(`${format}, ${name}: the output lacks "${proof}": ${ours.stdout.slice(0, 200)}`)
        }
        const times = ours.seconds / bare.seconds
        const title = `${format}, ${name}`
        measures.push({
          name: title,
          unit: 's',
          values: { [BARE]: bare.seconds, [OURS]: ours.seconds },
          ratio: times,
        })
        measures.push({
          name: `${title}: memory`,
          unit: 'MB',
          values: { [BARE]: bare.peakBytes / 1e6, [OURS]: ours.peakBytes / 1e6 },
        })
        verdicts.push({
          promise: `${title} <= ${MOST_TIMES} times the bare loop`,
          measured: `${times.toFixed(2)} times`,
          kept: times <= MOST_TIMES,
        })
        verdicts.push({
          promise: `${title} <= 250 MB resident`,
          measured: `${Math.round(ours.peakBytes / 1e6)} MB`,
          kept: ours.peakBytes <= MOST_BYTES,
        })
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
