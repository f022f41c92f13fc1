import { resolve } from 'node:path'
import {
  createLatencies,
  reportKinds,
  sumOfVaried,
  zeroCounts,
  verdicts,
  type ComparisonReport,
  type CompareSettings,
  type ComparisonSummary,
} from '../../compare/index.js'
import type { Filter } from '../../filter/index.js'
import { WiretapeError } from '../../model/index.js'
import {
  connectTo,
  createWithoutSecrets,
  describeTarget,
  keptBytes,
  narrowSets,
  parseSetValue,
  planReplay,
  runReplay,
  settleSecrets,
  type Plan,
  type ReplayTarget,
  type RunOptions,
  type RunResult,
  type RunSink,
  type SetValue,
} from '../../replay/index.js'
import { checkReplaceable, OpenRecords } from '../../tape/index.js'
import { readFiles, settingsOf } from '../compare/settings.js'
import { wantedReports, type WantedReport } from '../report-files.js'
import { refuseLearning } from '../compare/learned.js'
import { createComplaints } from '../complaints.js'
import { exitCode } from '../exit-codes.js'
import { filterOption } from '../filter-option.js'
import { parseHeader } from '../header-option.js'
import { parseHttpUrl } from '../http-url-option.js'
import { onInterrupt, type Interrupt } from '../interrupt.js'
import type { Io } from '../io.js'
import { refuseOwnInput } from '../own-input.js'
import { recordingPath } from '../recording-name.js'
import { watchedFiles } from '../recordings.js'
import { openOne } from '../transfer.js'
import { withSegments } from '../with-segments.js'
import { ReplayOutput, type Teller } from './replay-output.js'
import { updatableFormat, updateRecording } from './replay-update.js'
import type { ReplayOptions } from './replay-options.js'

/**
 * @param command of the server, if there is no URL
 * @param teller replaces our own output
 */
export async function runReplayCommand(
  named: string,
  command: readonly string[],
  options: ReplayOptions,
  io: Io,
  teller?: Teller,
): Promise<number> {
  if (options.url === undefined && command.length === 0) throw noTarget()
  if (options.url !== undefined) parseHttpUrl(options.url, '--url')
  const asked = { command, options, ...(await checkOptions(named, options, io)) }
  const { recording, close } = await openOne([asked.name], io)
  const records = new OpenRecords(watchedFiles(recording), { keptBytes })
  const interrupt = onInterrupt(options.signal)
  try {
    return await replay(asked, { recording, records, interrupt }, io, teller)
  } finally {
    interrupt.close()
    await records.close()
    await close()
  }
}

/** Checked options. */
interface CheckedOptions {
  readonly name: string
  readonly filter: Filter | undefined
  readonly given: readonly SetValue[]
  readonly settings: CompareSettings
  readonly wanted: readonly WantedReport<ComparisonReport>[]
}

interface AskedReplay extends CheckedOptions {
  readonly command: readonly string[]
  readonly options: ReplayOptions
}

/** Resources of a replay that must be closed. */
interface OpenReplay {
  readonly recording: Awaited<ReturnType<typeof openOne>>['recording']
  readonly records: OpenRecords
  readonly interrupt: Interrupt
}

/** @throws WiretapeError `usage` */
async function checkOptions(named: string, options: ReplayOptions, io: Io): Promise<CheckedOptions> {
  const name = await recordingPath(named, io)
  const filter =
    options.filter === undefined ? undefined : filterOption(options.filter, undefined, '--filter', 'refused')
  const given = (options.set ?? []).map((text) => parseSetValue(text, process.env))
  // Learning needs the exact values.
  const settings = await settingsOf(
    options.learn === undefined ? options : { ...options, exact: true },
    name,
    io,
  )
  const read = readFiles(options, await withSegments([name], io.cwd))
  const output =
    options.output === undefined ? undefined : { option: `--output ${options.output}`, file: options.output }
  const wanted = await wantedReports(options.report, reportKinds, read, io, output)
  if (options.output !== undefined) refuseOwnInput(options.output, read, '--output', io)
  if (options.output !== undefined) await checkReplaceable(resolve(io.cwd, options.output))
  if (options.update && (name === '-' || options.repeat > 1 || options.parallel > 1)) {
    throw new WiretapeError('usage', `--update needs a file, and one run`, {
      hint: 'leave out either --update or --repeat and --parallel',
    })
  }
  refuseLearning(name, options)
  return { name, filter, given, settings, wanted }
}

/** The plan of the replay, with the redacted values that are known. */
async function planOf(
  { name, filter, given, options }: AskedReplay,
  { recording, records }: OpenReplay,
  io: Io,
): ReturnType<typeof settleSecrets> {
  const complaints = createComplaints()
  const whole = await planReplay(
    records,
    name,
    (diagnostic) => complaints.input({ ...diagnostic, file: name }),
    filter,
  )
  await complaints.tell(io)
  if (options.update) updatableFormat(name, recording, whole, io)
  const narrowed = await narrowSets(whole, given)
  const isStrict = options.strictSecrets === true || options.update === true
  return settleSecrets(whole, narrowed, process.env, isStrict)
}

/** @returns the exit code */
async function replay(
  asked: AskedReplay,
  opened: OpenReplay,
  io: Io,
  teller: Teller | undefined,
): Promise<number> {
  const { name, command, options, settings, wanted } = asked
  const { recording, interrupt } = opened
  const { plan, sets, secrets, notes } = await planOf(asked, opened, io)
  const target = targetOf(command, options, plan)
  const label = describeTarget(target)
  const withoutSecrets = createWithoutSecrets(plan.session?.redaction)
  const output = new ReplayOutput({ name, label, plan, options, wanted, withoutSecrets, teller }, io)
  await output.begin()
  const run: RunOptions = {
    timeoutMs: options.timeout,
    handshake: options.handshake,
    unanswered: options.unanswered,
    concurrency: options.concurrency,
    speed: options.pace,
    sets,
    secrets,
    settings,
    signal: interrupt.signal,
  }
  const runs = options.learn === undefined ? options : { repeat: options.learn, parallel: 1 }
  const results = await runAll(runs, (number) =>
    runReplay(plan, connectTo(target), run, number === undefined ? output : numbered(output, number)),
  )
  const summary = withoutSecrets(joined(results, notes))
  // If only a later run cannot reach the server, earlier results are reported.
  if (results.every(({ unreachable }) => unreachable))
    throw new WiretapeError('usage', results[0]?.stopped ?? 'the server cannot be reached')
  const isStopped = summary.stopped !== undefined
  await output.writeResultFile({
    command: 'command' in target ? label : null,
    url: 'url' in target ? label : null,
  })
  if (output.isLearning && !isStopped && !interrupt.signal.aborted)
    return output.endLearning(summary, notes, results.length)
  await output.end(summary)
  if (interrupt.signal.aborted) return interrupt.exitCode()
  if (options.update && !isStopped) {
    const { kept, asked } = output
    return updateRecording(name, recording, plan, { outcomes: kept, asked }, results[0]!, io)
  }
  return summary.same ? exitCode.done : exitCode.found
}

function targetOf(command: readonly string[], options: ReplayOptions, plan: Plan): ReplayTarget {
  if (options.url !== undefined && command.length > 0)
    throw new WiretapeError('usage', '--url and a command cannot be combined', { hint: 'name one server' })
  if (options.url === undefined) {
    if (options.header) throw new WiretapeError('usage', '--header needs --url')
    if (command.length > 0) return { command }
    throw noTarget()
  }
  const transport = options.transport ?? (plan.transport === 'sse' ? 'sse' : 'streamable-http')
  const headers = options.header?.map((text) => parseHeader(text, process.env))
  return {
    url: options.url,
    transport,
    ...(headers && { headers: headers.map(({ name, value }) => [name, value] as const) }),
  }
}

function noTarget(): WiretapeError {
  return new WiretapeError('usage', 'a server to replay against is needed', {
    hint: 'add -- COMMAND, or --url URL',
  })
}

/** Adds the number of the run to all output. */
function numbered(sink: RunSink, run: number): RunSink {
  return {
    outcome({ comparison, ...outcome }) {
      sink.outcome({ ...outcome, run, ...(comparison && { comparison: { ...comparison, run } }) })
    },
    question: (comparison, text) => sink.question({ ...comparison, run }, text),
  }
}

/**
 * Does `--repeat` runs, `--parallel` of them concurrently.
 *
 * @param run gets its number if there are several
 */
async function runAll(
  { repeat, parallel }: Pick<ReplayOptions, 'repeat' | 'parallel'>,
  run: (number: number | undefined) => Promise<RunResult>,
): Promise<readonly NumberedResult[]> {
  const results: NumberedResult[] = []
  let begun = 0
  const total = Math.max(repeat, parallel)
  async function worker(): Promise<void> {
    while (begun < total && !results.some(({ stopped }) => stopped !== undefined)) {
      begun += 1
      const number = begun
      const result = await run(total === 1 ? undefined : number)
      results.push(total === 1 ? result : { ...result, number })
    }
  }
  await Promise.all(Array.from({ length: Math.min(parallel, total) }, worker))
  return results
}

interface NumberedResult extends RunResult {
  /** Set if there are several. */
  readonly number?: number
}

/** Joins all runs, without data that reports must not contain, such as values that were set. */
function joined(results: readonly NumberedResult[], before: readonly string[]): ComparisonSummary {
  const counts = zeroCounts()
  for (const result of results) for (const verdict of verdicts) counts[verdict] += result.counts[verdict]
  const latencies = createLatencies()
  for (const { times } of results)
    for (const { subject, beforeUs, afterUs } of times) latencies.add(subject, beforeUs, afterUs)
  const offers = new Map(
    results.flatMap((result) => result.offers).map((offer) => [JSON.stringify(offer), offer]),
  )
  const broken = results.find((result) => result.stopped !== undefined)
  const stopped =
    broken?.stopped !== undefined && broken.number !== undefined
      ? `run ${broken.number}: ${broken.stopped}`
      : broken?.stopped
  const notes = [...before, ...new Set(results.flatMap((result) => result.notes ?? []))]
  return {
    counts,
    ...sumOfVaried(results),
    offers: [...offers.values()],
    latency: latencies.list(),
    same: results.every(({ same }) => same),
    ...(stopped !== undefined && { stopped }),
    ...(notes.length > 0 && { notes }),
  }
}
