import { resolve } from 'node:path'
import {
  collectReport,
  reportKinds,
  type ComparisonReport,
  type ComparisonSummary,
} from '../../compare/index.js'
import { createStyle, countOf, escapeText } from '../../render/index.js'
import {
  Learner,
  resultFile,
  settledReport,
  type MessageOutcome,
  type Plan,
  type RunSink,
} from '../../replay/index.js'
import { replaceFile } from '../../tape/index.js'
import { compareFileFor, tellLearned } from '../compare/learned.js'
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
import type { Io } from '../io.js'
import { createCounter } from '../progress.js'
import { bytesOf, printPieces, writeReports, type WantedReport } from '../report-files.js'
import type { ReplayOptions } from './replay-options.js'
import type { AskedNow } from './replay-update.js'

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

type Comparison = NonNullable<MessageOutcome['comparison']>

/** A replay to print and to report. */
export interface ToldReplay {
  /** Of the recording. */
  readonly name: string
  /** Of the server. */
  readonly label: string
  readonly plan: Plan
  readonly options: ReplayOptions
  readonly wanted: readonly WantedReport<ComparisonReport>[]
  readonly withoutSecrets: <T>(value: T) => T
  /** Replaces our own output. */
  readonly teller: Teller | undefined
}

/** Output of a replay, for the screen and for files. */
export class ReplayOutput implements RunSink {
  readonly #told: ToldReplay
  readonly #io: Io
  readonly #layout: Layout
  readonly #report
  readonly #learner: Learner | undefined
  readonly #suggestions = createSuggestions()
  readonly #varied
  readonly #counted: Counted = { total: 0, failed: 0 }
  readonly #tick
  /** For the result file or the updated recording. */
  readonly kept: MessageOutcome[] = []
  /** Requests of the server. */
  readonly asked: AskedNow[] = []

  constructor(told: ToldReplay, io: Io) {
    const { name, label, plan, options, wanted, withoutSecrets } = told
    this.#told = told
    this.#io = io
    this.#layout = { style: createStyle(io.colours), columns: io.columns }
    if (options.json === true || wanted.length > 0)
      this.#report = collectReport(withoutSecrets({ before: name, after: label }))
    if (options.learn !== undefined) this.#learner = new Learner()
    this.#varied = createVariedLines(this.#layout)
    const runs = options.learn ?? Math.max(options.repeat, options.parallel)
    this.#tick = createCounter(plan.messages * runs, 'messages')
  }

  /** Says what is about to be replayed. */
  async begin(): Promise<void> {
    const { name, label, plan, options, teller } = this.#told
    const shown =
      teller?.start(plan, label) ??
      `Replaying ${countOf(plan.messages, 'message')} of ${name} against ${label}\n`
    if (options.json) return
    await this.#io.write(`${escapeText(shown.trimEnd())}\n`)
    await this.#io.flush()
  }

  outcome(exact: MessageOutcome): void {
    const { options, teller, withoutSecrets } = this.#told
    const outcome = withoutSecrets(exact)
    const { comparison } = outcome
    this.#counted.total += 1
    if (isFailed(outcome)) this.#counted.failed += 1
    const { method, name } = outcome.message
    this.#tick(this.#counted.total, [method, name].filter(Boolean).join(' '))
    if (options.output !== undefined || options.update) this.kept.push(options.update ? exact : outcome)
    if (teller) this.show(teller.outcome(outcome))
    if (!comparison) return
    this.#take(comparison)
    this.#varied.take(comparison)
    // Unsent messages share one reason, reported at the end.
    if (this.#learner) return
    const isTold = options.all || (comparison.verdict !== 'same' && comparison.verdict !== 'not sent')
    if (!teller && isTold) this.show(exchangeLines(comparison, this.#layout))
  }

  question(exact: Comparison, text?: string): void {
    const { options, withoutSecrets } = this.#told
    if (options.update && text !== undefined) this.asked.push({ comparison: exact, text })
    const comparison = withoutSecrets(exact)
    this.#take(comparison)
    if (!this.#learner && (options.all || comparison.verdict !== 'same'))
      this.show(exchangeLines(comparison, this.#layout))
  }

  show(text: string): void {
    if (this.#told.options.json || text === '') return
    void this.#io.write(text)
    // A person may be watching.
    void this.#io.flush()
  }

  async writeResultFile(target: {
    readonly command: string | null
    readonly url: string | null
  }): Promise<void> {
    const { options, withoutSecrets } = this.#told
    if (options.output === undefined) return
    const told = options.update ? this.kept.map((outcome) => withoutSecrets(outcome)) : this.kept
    await replaceFile(resolve(this.#io.cwd, options.output), bytesOf(resultFile(target, told)))
  }

  get isLearning(): boolean {
    return this.#learner !== undefined
  }

  /** Writes what was learned. @returns the exit code */
  async endLearning(summary: ComparisonSummary, notes: readonly string[], runs: number): Promise<number> {
    const { name, options, wanted } = this.#told
    const learned = this.#learner!.finish(runs)
    this.show(noteLines({ ...summary, notes }))
    const file = compareFileFor(name, options, this.#io)
    const code = await tellLearned(learned, file, this.#layout, (text) => this.show(text))
    if (this.#report)
      await writeReports(wanted, settledReport(this.#report.finish(summary), learned), this.#io)
    return code
  }

  /** Prints the end and writes the reports. */
  async end(summary: ComparisonSummary): Promise<void> {
    const { options, teller, wanted } = this.#told
    if (teller) this.show(teller.end(this.#counted, options.output))
    this.show(this.#closingLines(summary))
    const collected = this.#report?.finish(summary)
    if (collected && options.json) await printPieces(reportKinds['json']!(collected), this.#io)
    if (collected) await writeReports(wanted, collected, this.#io)
    if (options.update && summary.stopped !== undefined)
      this.show('No response was accepted, because the replay was stopped\n')
  }

  #take(comparison: Comparison): void {
    this.#report?.take(comparison)
    this.#learner?.take(comparison)
    this.#suggestions.take(comparison)
  }

  #closingLines(summary: ComparisonSummary): string {
    const layout = this.#layout
    const { stopped } = summary
    const tail = `${offerLines(summary, layout)}${latencyLines(summary, layout)}${this.#varied.lines(summary)}${this.#suggestions.lines()}`
    const closing = [
      ...(stopped === undefined ? [] : [`${layout.style.red('Stopped')}: ${escapeText(stopped)}\n`]),
      noteLines(summary),
      ...(this.#told.teller && summary.same ? [] : [summaryLine(summary, layout)]),
    ].join('')
    return `${tail}${tail === '' || closing === '' ? '' : '\n'}${closing}`
  }
}

/** No response, or not the recorded one. */
function isFailed({ status, comparison }: MessageOutcome): boolean {
  return comparison ? comparison.verdict !== 'same' : status !== 'sent'
}
