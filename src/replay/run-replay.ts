import {
  compareOffers,
  createOffers,
  offerNotes,
  isNote,
  fileMember,
  fileNotes,
  notesIn,
  restartNotes,
  tellsOffers,
} from '../compare/index.js'
import type { ClientFrame } from '../link/index.js'
import { createDeadline } from '../transports/index.js'
import { answerLiveQuestion } from './answer-live-question.js'
import { awaitAnswer } from './await-answer.js'
import { compareQuestion, createQuestionPicker } from './answer-question.js'
import { compareMessage } from './compare-message.js'
import { openHandshake, refusalOf } from './handshake.js'
import { createLater } from './later.js'
import { openLive, type Connect, type LiveConnection, type LiveEvents } from './live-connection.js'
import { liveFrame, toLiveMessage, type LiveMessage } from './live-message.js'
import { createLiveValues } from './live-values.js'
import { createNoise } from './noise.js'
import { createNoticePicker } from './notice-picker.js'
import { orderedOutcomes, type Finished } from './ordered-outcomes.js'
import { createParamHeaders } from './param-headers.js'
import type { Plan } from './plan.js'
import type { PlannedFrame, PlannedMessage } from './planned-frames.js'
import { isRecordedEnd } from './recorded-end.js'
import { createReadAhead, type Said } from './read-ahead.js'
import type { RunOptions, RunResult, RunSink } from './run-options.js'
import { createRunClock } from './run-clock.js'
import { createSchedule, type ScheduledConnection } from './schedule.js'
import { createTally } from './tally.js'
import { givenUp, unfinishedIn } from './unfinished.js'
import { createWaiting } from './waiting.js'

/**
 * Acts as the client of a recording, once. Work that the next message depends on is done as soon as a response
 * arrives. Comparing waits until the next message is sent; the records it needs are read before.
 */
export async function runReplay(
  plan: Plan,
  connect: Connect,
  options: RunOptions,
  sink: RunSink,
): Promise<RunResult> {
  return new ReplayRun(plan, connect, options, sink).run()
}

class ReplayRun {
  readonly #plan: Plan
  readonly #connect: Connect
  readonly #options: RunOptions
  readonly #sink: RunSink
  /** A signal shared by many runs keeps no listener of a finished run. */
  readonly #interrupted
  readonly #values
  readonly #offers = createOffers()
  readonly #noise = createNoise()
  readonly #paramHeaders
  readonly #tally
  readonly #clock = createRunClock()
  readonly #ahead
  readonly #later = createLater((error) => this.#failed(error))
  readonly #open = new Map<string, ScheduledConnection>()
  readonly #waiting
  /** Work started by messages of the server. */
  readonly #reactions = new Set<Promise<void>>()
  /** Timers of pending requests, by the index of the message. */
  readonly #timers = new Map<number, NodeJS.Timeout>()
  #stopped: string | undefined
  #unreachable = false
  #failedQuestions = 0
  /** A note about a server that ended before its client, then and now. */
  readonly #ending: string[] = []
  readonly #outcomes
  readonly #questions
  readonly #schedule

  constructor(plan: Plan, connect: Connect, options: RunOptions, sink: RunSink) {
    this.#plan = plan
    this.#connect = connect
    this.#options = options
    this.#sink = sink
    this.#interrupted = createDeadline({ signal: options.signal })
    const values = createLiveValues(options.sets, options.secrets)
    this.#values = values
    this.#paramHeaders = createParamHeaders([this.#offers, plan.index.offers])
    this.#tally = createTally(options.timeoutMs)
    const ahead = createReadAhead(plan)
    this.#ahead = ahead
    const waiting = createWaiting(this.#interrupted.signal)
    this.#waiting = waiting
    const outcomes = orderedOutcomes(plan.messages, (outcome) => {
      if (outcome.comparison) this.#tally.count(outcome.comparison)
      sink.outcome(outcome)
    })
    this.#outcomes = outcomes
    this.#questions = {
      plan,
      options,
      values,
      outcomes,
      ahead,
      tell: this.#tellQuestion,
      refused: (message: PlannedMessage, finished: Finished) =>
        this.#take(message, finished, undefined, undefined),
      answered: (row: number) => this.#schedule.answered(row),
      failed: () => void (this.#failedQuestions += 1),
    }
    this.#schedule = createSchedule({ plan, options, outcomes, waiting, isOver: this.#isOver })
  }

  readonly #isOver = (): boolean => this.#stopped !== undefined

  readonly #stop = (why: string): void => {
    this.#stopped ??= why
    this.#waiting.changed()
  }

  #failed(error: unknown): void {
    this.#stop(error instanceof Error ? error.message : String(error))
  }

  readonly #tellQuestion = (...[comparison, text]: Parameters<RunSink['question']>): void => {
    this.#tally.count(comparison)
    this.#sink.question(comparison, text)
  }

  readonly #react = (work: Promise<void>): void => {
    const settled = work
      .catch((error: unknown) => this.#failed(error))
      .finally(() => {
        this.#reactions.delete(settled)
        this.#waiting.changed()
      })
    this.#reactions.add(settled)
  }

  async run(): Promise<RunResult> {
    const { signal } = this.#interrupted
    const onAbort = (): void => this.#stop('interrupted')
    signal.addEventListener('abort', onAbort)
    if (signal.aborted) onAbort()
    try {
      await this.#converse()
    } finally {
      signal.removeEventListener('abort', onAbort)
      this.#interrupted.close()
      await Promise.all([...this.#open.values()].map(({ live }) => live.close()))
      await Promise.all(this.#reactions)
      this.#later.finish()
      for (const timer of this.#timers.values()) clearTimeout(timer)
    }
    await this.#tellTheRest()
    return this.#result()
  }

  async #converse(): Promise<void> {
    const { frames } = this.#plan
    for (const frame of frames) {
      if (this.#stopped !== undefined) return
      await this.#sendFrame(frame, frames.at(frame.number + 1))
    }
    const isQuiet = (): boolean =>
      this.#reactions.size === 0 && this.#outcomes.waiting().every((message) => message.loose)
    await this.#waiting.until(() => this.#isOver() || isQuiet())
    // The server may still make requests after the client's last one.
    const isExpected = (): boolean =>
      [...this.#open.values()].some(({ picker }) => picker.isExpected(Infinity))
    await this.#waiting.until(() => this.#isOver() || !isExpected(), this.#options.timeoutMs)
  }

  async #connectionOf(frame: PlannedFrame): Promise<ScheduledConnection | undefined> {
    const known = this.#open.get(frame.connection)
    if (known) return known
    const plan = this.#plan
    const { timeoutMs, handshake } = this.#options
    const { signal } = this.#interrupted
    const picker = createQuestionPicker(plan, frame.connection)
    const live = await openLive(this.#connect, { timeoutMs, signal }, this.#listenerTo(frame))
    if ('error' in live) {
      this.#unreachable = this.#open.size === 0 && !signal.aborted
      this.#stop(live.error)
      return undefined
    }
    const notices = createNoticePicker(plan, frame.connection, live, timeoutMs)
    const opened = { live, picker, notices }
    this.#open.set(frame.connection, opened)
    const planned = plan.connections.get(frame.connection)!
    if (planned.opening === 'missing' && handshake) {
      const refused = await openHandshake(plan, planned, live, timeoutMs)
      if (refused !== undefined) this.#stop(refused)
    }
    return opened
  }

  /** Handles a connection's incoming messages. */
  #listenerTo(frame: PlannedFrame): LiveEvents {
    return {
      question: (text, envelope) =>
        this.#react(answerLiveQuestion(this.#questions, this.#open.get(frame.connection)!, text, envelope)),
      notification: () => this.#waiting.changed(),
      noise: (text) => this.#noise.take(text),
      stray: (id, why) => {
        this.#noise.stray(id, why)
        this.#waiting.changed()
      },
      nameless: (text) => this.#noise.nameless(text),
      ended: this.#stop,
    }
  }

  async #sendFrame(frame: PlannedFrame, next: PlannedFrame | undefined): Promise<void> {
    const record = await this.#ahead.frame(frame)
    const messages = this.#plan.frames.messagesOf(frame, record)
    // Responses are sent when the server makes the request.
    if (messages.every(({ kind, peer }) => kind === 'answer' && peer >= 0))
      return this.#ahead.prepare([], next)
    const opened = await this.#connectionOf(frame)
    if (!opened || this.#isOver()) return
    await this.#schedule.untilTimeFor(frame, messages, opened)
    if (this.#isOver()) return
    const texts = messages.map((message) => toLiveMessage(record, message, this.#values))
    const sent = liveFrame(record, texts, this.#paramHeaders)
    for (const one of texts) this.#expectAnswer(opened.live, sent, one)
    this.#schedule.sent(frame)
    let isTaken = false
    const sending = opened.live.send(sent).then(() => {
      isTaken = true
      this.#waiting.changed()
    })
    sending.catch((error: unknown) => this.#failed(error))
    this.#ahead.prepare(messages, next)
    // The frame is usually accepted by now, but a server may have stopped reading.
    await Promise.resolve()
    await this.#waiting.until(() => isTaken || this.#isOver(), this.#options.timeoutMs)
    this.#concludeSent(texts, opened.live.refusalOf(sent))
  }

  /** Outcomes of sent notifications and responses. */
  #concludeSent(texts: readonly LiveMessage[], refusal: string | undefined): void {
    for (const { message, original, live } of texts) {
      if (message.kind === 'request') continue
      const finished = { original, sent: live.text, kept: live.kept, replaced: live.replaced }
      if (refusal === undefined) this.#outcomes.finish(message, { ...finished, status: 'sent' })
      else this.#conclude(message, { ...finished, status: 'failed', error: `Write failed: ${refusal}` })
    }
  }

  #expectAnswer(live: LiveConnection, frame: ClientFrame, one: LiveMessage): void {
    const { message, original } = one
    const { text, kept, replaced, threaded } = one.live
    const { id } = message
    if (message.kind !== 'request' || id === undefined) return
    const { timeoutMs } = this.#options
    const sentAtMs = performance.now()
    this.#outcomes.began(message)
    const context = {
      live,
      timeoutMs,
      waiting: this.#waiting,
      isOver: this.#isOver,
      ahead: this.#ahead,
      react: this.#react,
    }
    const timer = awaitAnswer(context, { message, id, frame, text }, (answer) => {
      const sent = { original, sent: text, kept, replaced }
      if (answer === 'timed out') {
        const error = `Timeout after ${seconds(timeoutMs)}s`
        return this.#conclude(message, { status: 'timed out', ...sent, error })
      }
      // Reported with the remaining messages.
      if ('isUnsent' in answer && answer.isUnsent) return void this.#timers.delete(message.index)
      const durationUs = Math.round((performance.now() - sentAtMs) * 1000)
      const came: Finished =
        'text' in answer
          ? { status: 'answered', ...sent, durationUs, response: answer.text }
          : { status: 'failed', ...sent, durationUs, error: answer.error }
      this.#conclude(message, came, threaded)
    })
    this.#timers.set(message.index, timer)
  }

  #conclude(message: PlannedMessage, finished: Finished, threaded?: ReadonlyMap<string, string>): void {
    const answer = message.peer < 0 ? undefined : this.#ahead.said(message.peer)
    if (answer instanceof Promise)
      this.#react(answer.then((said) => this.#take(message, finished, said, threaded)))
    else this.#take(message, finished, answer, threaded)
  }

  /** Learns immediately, compares later. */
  #take(
    message: PlannedMessage,
    finished: Finished,
    answer: Said | undefined,
    threaded: ReadonlyMap<string, string> | undefined,
  ): void {
    const plan = this.#plan
    const offers = this.#offers
    const { method = '' } = message
    const { response } = finished
    this.#timers.delete(message.index)
    if (response !== undefined) {
      if (answer) this.#values.learn(answer.text, answer.marks, response)
      if (tellsOffers(method)) {
        const goesOn = finished.original.includes('"cursor"')
        const first = goesOn ? plan.index.offers.listings.firstOf(message.row) : undefined
        offers.take(method, response, goesOn, { request: message.row, first })
      }
    }
    this.#later.add(() => {
      const { settings } = this.#options
      const varying = this.#clock.varyingAt(plan, message, finished)
      const comparison = compareMessage(plan, message, answer, finished, settings, offers, threaded, varying)
      this.#outcomes.finish(
        message,
        finished,
        answer ? { recorded: answer.text, comparison } : { comparison },
      )
    })
    const refusal = method === 'initialize' && answer ? refusalOf(finished, answer) : undefined
    if (refusal !== undefined) this.#stop(`the handshake was refused: ${refusal}`)
    this.#outcomes.answered(message)
    this.#waiting.changed()
  }

  /** Reports messages no longer awaited, messages not sent, and requests that the server did not make. */
  async #tellTheRest(): Promise<void> {
    let isAll = true
    for await (const message of unfinishedIn(this.#plan, this.#outcomes)) {
      isAll = false
      const { text: original } = await this.#ahead.said(message.row)
      const timer = this.#timers.get(message.index)
      clearTimeout(timer)
      const finished = givenUp(message, original, timer !== undefined, this.#stopped)
      if (message.kind !== 'request') this.#outcomes.finish(message, finished)
      else {
        const answer = message.peer < 0 ? undefined : await this.#ahead.said(message.peer)
        this.#take(message, finished, answer, undefined)
        this.#later.finish()
      }
    }
    const stopped = this.#stopped
    if (stopped !== undefined && isAll && isRecordedEnd(this.#plan.session, stopped)) {
      this.#ending.push(`${stopped}, as in the recording`)
      this.#stopped = undefined
    }
    if (!this.#isOver()) await this.#tellMissingQuestions()
  }

  async #tellMissingQuestions(): Promise<void> {
    const { entries } = this.#plan.index
    for (const { row } of [...this.#open.values()].flatMap(({ picker }) => picker.left())) {
      const { record, part } = await this.#plan.message(row)
      const { start, end, envelope } = record.parts[part]!
      const recorded = { text: record.raw.slice(start, end), seq: entries.seq(row) }
      this.#tellQuestion(compareQuestion(recorded, undefined, envelope, this.#options.settings))
    }
  }

  #result(): RunResult {
    const { index } = this.#plan
    const { settings } = this.#options
    const tally = this.#tally
    const stopped = this.#stopped
    const changes =
      stopped === undefined ? compareOffers(index.offers, this.#offers, { partnerOf: (row) => row }) : []
    return {
      counts: tally.counts,
      offers: changes,
      latency: tally.latency(),
      times: tally.times,
      given: this.#values.given(),
      ...fileMember(settings),
      ...tally.varied(),
      ...notesIn(
        this.#ending,
        fileNotes(settings),
        this.#noise.notes(),
        tally.notes(),
        restartNotes('during the recording', index.restarts),
        offerNotes(index.offers, this.#offers),
      ),
      same: tally.isSame() && changes.every(isNote) && stopped === undefined && this.#failedQuestions === 0,
      ...(stopped !== undefined && { stopped }),
      ...(this.#unreachable && { unreachable: true as const }),
    }
  }
}

/** In the format of the documented result file: `10.0`. */
function seconds(ms: number): string {
  const text = String(ms / 1000)
  return text.includes('.') ? text : `${text}.0`
}
