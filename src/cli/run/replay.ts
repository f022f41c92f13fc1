import { resolve } from 'node:path'
import {
  collectReport,
  createLatencies,
  reportKinds,
  sumOfVaried,
  zeroCounts,
  verdicts,
  type ComparisonSummary,
} from '../../compare/index.js'
import { WiretapeError } from '../../model/index.js'
import { countOf, createStyle, escapeText } from '../../render/index.js'
import {
  connectTo,
  createWithoutSecrets,
  describeTarget,
  keptBytes,
  Learner,
  settledReport,
  narrowSets,
  parseSetValue,
  planReplay,
  resultFile,
  runReplay,
  settleSecrets,
  type MessageOutcome,
  type Plan,
  type ReplayTarget,
  type RunOptions,
  type RunResult,
  type RunSink,
} from '../../replay/index.js'
import { checkReplaceable, openRecords, replaceFile } from '../../tape/index.js'
import {
  createSuggestions,
  createVariedLines,
  exchangeLines,
  latencyLines,
  noteLines,
  offerLines,
  summaryLine,
  type Layout,
} from '../compare/print.js'
import { readFiles, settingsOf } from '../compare/settings.js'
import { bytesOf, printPieces, wantedReports, writeReports } from '../report-files.js'
import { compareFileFor, refuseLearning, tellLearned } from '../compare/learned.js'
import { createComplaints } from '../complaints.js'
import { exitCode } from '../exit-codes.js'
import { filterOption } from '../filter-option.js'
import { parseHeader } from '../header-option.js'
import { parseHttpUrl } from '../http-url-option.js'
import { onInterrupt } from '../interrupt.js'
import { createCounter } from '../progress.js'
import type { Io } from '../io.js'
import { refuseOwnInput } from '../own-input.js'
import { recordingPath } from '../recording-name.js'
import { watchedFiles } from '../recordings.js'
import { openOne } from '../transfer.js'
import { withSegments } from '../with-segments.js'
import { updatableFormat, updateRecording, type AskedNow } from './replay-update.js'
import type { ReplayOptions } from './replay-options.js'

/** Output of a replay while it runs. */
export interface Teller {
  readonly start: (plan: Plan, target: string) => string
  readonly outcome: (outcome: MessageOutcome) => string
  readonly end: (outcomes: Counted, output: string | undefined) => string
}

/** Counts of message outcomes. */
export interface Counted {
  total: number
  failed: number
}

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
  const learner = options.learn === undefined ? undefined : new Learner()
  const { recording, close } = await openOne([name], io)
  const records = openRecords(watchedFiles(recording), { keptBytes })
  const interrupt = onInterrupt(options.signal)
  try {
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
    const settled = await settleSecrets(
      whole,
      narrowed,
      process.env,
      options.strictSecrets === true || options.update === true,
    )
    const { plan, sets, secrets } = settled
    const target = targetOf(command, options, plan)
    const label = describeTarget(target)
    const withoutSecrets = createWithoutSecrets(plan.session?.redaction)
    const layout: Layout = { style: createStyle(io.colours), columns: io.columns }
    const quiet = options.json === true
    const shown =
      teller?.start(plan, label) ??
      `Replaying ${countOf(plan.messages, 'message')} of ${name} against ${label}\n`
    if (!quiet) await io.write(`${escapeText(shown.trimEnd())}\n`)
    if (!quiet) await io.flush()
    const report =
      quiet || wanted.length > 0 ? collectReport(withoutSecrets({ before: name, after: label })) : undefined
    const suggestions = createSuggestions()
    const varied = createVariedLines(layout)
    const kept: MessageOutcome[] = []
    const asked: AskedNow[] = []
    const counted: Counted = { total: 0, failed: 0 }
    const keeps = options.output !== undefined || options.update === true

    const tick = createCounter(
      plan.messages * (options.learn ?? Math.max(options.repeat, options.parallel)),
      'messages',
    )
    const show = (text: string): void => {
      if (quiet || text === '') return
      void io.write(text)
      // A person may be watching.
      void io.flush()
    }
    const sink = {
      outcome(exact: MessageOutcome): void {
        const outcome = withoutSecrets(exact)
        const { comparison } = outcome
        counted.total += 1
        if (isFailed(outcome)) counted.failed += 1
        tick(counted.total, [outcome.message.method, outcome.message.name].filter(Boolean).join(' '))
        if (keeps) kept.push(options.update ? exact : outcome)
        if (teller) show(teller.outcome(outcome))
        if (!comparison) return
        report?.take(comparison)
        learner?.take(comparison)
        suggestions.take(comparison)
        varied.take(comparison)
        // Unsent messages share one reason, reported at the end.
        if (learner) return
        const isTold = options.all || (comparison.verdict !== 'same' && comparison.verdict !== 'not sent')
        if (!teller && isTold) show(exchangeLines(comparison, layout))
      },
      question(exact: NonNullable<MessageOutcome['comparison']>, text?: string): void {
        if (options.update && text !== undefined) asked.push({ comparison: exact, text })
        const comparison = withoutSecrets(exact)
        report?.take(comparison)
        learner?.take(comparison)
        suggestions.take(comparison)
        if (!learner && (options.all || comparison.verdict !== 'same'))
          show(exchangeLines(comparison, layout))
      },
    }
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
      runReplay(plan, connectTo(target), run, number === undefined ? sink : numbered(sink, number)),
    )
    const summary = withoutSecrets(joined(results, settled.notes))
    // If only a later run cannot reach the server, earlier results are reported.
    if (results.every(({ unreachable }) => unreachable))
      throw new WiretapeError('usage', results[0]?.stopped ?? 'the server cannot be reached')
    const { stopped } = summary

    if (options.output !== undefined) {
      const about = { command: 'command' in target ? label : null, url: 'url' in target ? label : null }
      const told = options.update ? kept.map((outcome) => withoutSecrets(outcome)) : kept
      await replaceFile(resolve(io.cwd, options.output), bytesOf(resultFile(about, told)))
    }
    if (learner && stopped === undefined && !interrupt.signal.aborted) {
      const learned = learner.finish(results.length)
      show(noteLines({ ...summary, notes: settled.notes }))
      const code = await tellLearned(learned, compareFileFor(name, options, io), layout, show)
      if (report) await writeReports(wanted, settledReport(report.finish(summary), learned), io)
      return code
    }
    if (teller) show(teller.end(counted, options.output))
    const tail = `${offerLines(summary, layout)}${latencyLines(summary, layout)}${varied.lines(summary)}${suggestions.lines()}`
    const closing = [
      ...(stopped === undefined ? [] : [`${layout.style.red('Stopped')}: ${escapeText(stopped)}\n`]),
      noteLines(summary),
      ...(teller && summary.same ? [] : [summaryLine(summary, layout)]),
    ].join('')
    show(`${tail}${tail === '' || closing === '' ? '' : '\n'}${closing}`)
    const collected = report?.finish(summary)
    if (collected && quiet) await printPieces(reportKinds['json']!(collected), io)
    if (collected) await writeReports(wanted, collected, io)
    if (options.update && stopped !== undefined)
      show('No response was accepted, because the replay was stopped\n')
    if (interrupt.signal.aborted) return interrupt.exitCode()
    if (options.update && stopped === undefined)
      return await updateRecording(name, recording, plan, { outcomes: kept, asked }, results[0]!, io)
    return summary.same ? exitCode.done : exitCode.found
  } finally {
    interrupt.close()
    await records.close()
    await close()
  }
}

/** No response, or not the recorded one. */
function isFailed({ status, comparison }: MessageOutcome): boolean {
  return comparison ? comparison.verdict !== 'same' : status !== 'sent'
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
