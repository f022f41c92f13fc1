import {
  compareOffers,
  createOffers,
  offerNotes,
  failureOf,
  isNote,
  fileMember,
  fileNotes,
  notesIn,
  restartNotes,
  tellsOffers,
  marksOf,
} from '../compare/index.js'
import type { ClientFrame } from '../link/index.js'
import { createDeadline } from '../transports/index.js'
import { readEnvelope, spliceText } from '../wire/index.js'
import { answerLiveQuestion } from './answer-live-question.js'
import { awaitAnswer } from './await-answer.js'
import { compareQuestion, createQuestionPicker } from './answer-question.js'
import { clientFrame } from './client-frame.js'
import { compareMessage } from './compare-message.js'
import { openHandshake } from './handshake.js'
import { createLater } from './later.js'
import { openLive, type Connect, type LiveConnection } from './live-connection.js'
import { createLiveValues, type LiveText } from './live-values.js'
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
  const { timeoutMs, settings } = options
  // A signal shared by many runs keeps no listener of a finished run.
  const interrupted = createDeadline({ signal: options.signal })
  const { signal } = interrupted
  const { entries } = plan.index
  const values = createLiveValues(options.sets, options.secrets)
  const offers = createOffers()
  const noise = createNoise()
  const paramHeaders = createParamHeaders([offers, plan.index.offers])
  const tally = createTally(timeoutMs)
  const clock = createRunClock()
  const ahead = createReadAhead(plan)
  const later = createLater(failed)
  const open = new Map<string, ScheduledConnection>()
  const waiting = createWaiting(signal)
  /** Work started by messages of the server. */
  const reactions = new Set<Promise<void>>()
  /** Timers of pending requests, by the index of the message. */
  const timers = new Map<number, NodeJS.Timeout>()
  let stopped: string | undefined
  let unreachable = false
  let failedQuestions = 0
  /** A note about a server that ended before its client, then and now. */
  const ending: string[] = []

  const outcomes = orderedOutcomes(plan.messages, (outcome) => {
    if (outcome.comparison) tally.count(outcome.comparison)
    sink.outcome(outcome)
  })
  const questions = {
    plan,
    options,
    values,
    outcomes,
    ahead,
    tell: (...[comparison, text]: Parameters<RunSink['question']>) => {
      tally.count(comparison)
      sink.question(comparison, text)
    },
    refused: (message: PlannedMessage, finished: Finished) => take(message, finished, undefined, undefined),
    answered: (row: number) => schedule.answered(row),
    failed: () => void (failedQuestions += 1),
  }

  const isOver = (): boolean => stopped !== undefined
  const schedule = createSchedule({ plan, options, outcomes, waiting, isOver })

  function stop(why: string): void {
    stopped ??= why
    waiting.changed()
  }

  function failed(error: unknown): void {
    stop(error instanceof Error ? error.message : String(error))
  }

  function react(work: Promise<void>): void {
    const settled = work.catch(failed).finally(() => {
      reactions.delete(settled)
      waiting.changed()
    })
    reactions.add(settled)
  }

  async function connectionOf(frame: PlannedFrame): Promise<ScheduledConnection | undefined> {
    const known = open.get(frame.connection)
    if (known) return known
    const picker = createQuestionPicker(plan, frame.connection)
    const live = await openLive(
      connect,
      { timeoutMs, signal },
      {
        question: (text, envelope) =>
          react(answerLiveQuestion(questions, open.get(frame.connection)!, text, envelope)),
        notification: () => waiting.changed(),
        noise: (text) => noise.take(text),
        stray(id, why) {
          noise.stray(id, why)
          waiting.changed()
        },
        nameless: (text) => noise.nameless(text),
        ended: stop,
      },
    )
    if ('error' in live) {
      unreachable = open.size === 0 && !signal.aborted
      stop(live.error)
      return undefined
    }
    const notices = createNoticePicker(plan, frame.connection, live, timeoutMs)
    const opened = { live, picker, notices }
    open.set(frame.connection, opened)
    const planned = plan.connections.get(frame.connection)!
    if (planned.opening === 'missing' && options.handshake) {
      const refused = await openHandshake(plan, planned, live, timeoutMs)
      if (refused !== undefined) stop(refused)
    }
    return opened
  }

  async function sendFrame(frame: PlannedFrame, next: PlannedFrame | undefined): Promise<void> {
    const record = await ahead.frame(frame)
    const messages = plan.frames.messagesOf(frame, record)
    // Responses are sent when the server makes the request.
    if (messages.every(({ kind, peer }) => kind === 'answer' && peer >= 0)) return ahead.prepare([], next)
    const opened = await connectionOf(frame)
    if (!opened || stopped !== undefined) return
    await schedule.untilTimeFor(frame, messages, opened)
    if (stopped !== undefined) return
    const texts = messages.map((message) => {
      const { start, end, envelope } = record.parts[message.part]!
      const original = record.raw.slice(start, end)
      const live = values.apply(original, marksOf(record, message.part))
      return { message, start, end, original, live, known: live.text === original ? envelope : undefined }
    })
    const edits = texts.map(({ start, end, live: { text } }) => ({ start, end, text }))
    const isWhole = texts.length === record.parts.length
    // A part of a batch, where a filter excludes the rest.
    const text = isWhole ? spliceText(record.raw, edits) : `[${edits.map((edit) => edit.text).join(',')}]`
    const lives = texts.map(({ live }) => live.text)
    const envelopes = texts.map(({ known }) => known)
    const sent = clientFrame(text, lives, paramHeaders, envelopes)
    for (const { message, original, live } of texts) expectAnswer(opened.live, sent, message, original, live)
    schedule.sent(frame)
    let isTaken = false
    const sending = opened.live.send(sent).then(() => {
      isTaken = true
      waiting.changed()
    })
    sending.catch(failed)
    ahead.prepare(messages, next)
    // The frame is usually accepted by now, but a server may have stopped reading.
    await Promise.resolve()
    await waiting.until(() => isTaken || stopped !== undefined, timeoutMs)
    const refusal = opened.live.refusalOf(sent)
    for (const { message, original, live } of texts) {
      if (message.kind === 'request') continue
      const finished = { original, sent: live.text, kept: live.kept, replaced: live.replaced }
      if (refusal === undefined) outcomes.finish(message, { ...finished, status: 'sent' })
      else conclude(message, { ...finished, status: 'failed', error: `Write failed: ${refusal}` })
    }
  }

  function expectAnswer(
    live: LiveConnection,
    frame: ClientFrame,
    message: PlannedMessage,
    original: string,
    { text, kept, replaced, threaded }: LiveText,
  ): void {
    const { id } = message
    if (message.kind !== 'request' || id === undefined) return
    const sentAtMs = performance.now()
    outcomes.began(message)
    const context = { live, timeoutMs, waiting, isOver, ahead, react }
    const timer = awaitAnswer(context, { message, id, frame, text }, (answer) => {
      const sent = { original, sent: text, kept, replaced }
      if (answer === 'timed out') {
        const error = `Timeout after ${seconds(timeoutMs)}s`
        return conclude(message, { status: 'timed out', ...sent, error })
      }
      // Reported with the remaining messages.
      if ('isUnsent' in answer && answer.isUnsent) return void timers.delete(message.index)
      const durationUs = Math.round((performance.now() - sentAtMs) * 1000)
      const came: Finished =
        'text' in answer
          ? { status: 'answered', ...sent, durationUs, response: answer.text }
          : { status: 'failed', ...sent, durationUs, error: answer.error }
      conclude(message, came, threaded)
    })
    timers.set(message.index, timer)
  }

  function conclude(
    message: PlannedMessage,
    finished: Finished,
    threaded?: ReadonlyMap<string, string>,
  ): void {
    const answer = message.peer < 0 ? undefined : ahead.said(message.peer)
    if (answer instanceof Promise) react(answer.then((said) => take(message, finished, said, threaded)))
    else take(message, finished, answer, threaded)
  }

  /** Learns immediately, compares later. */
  function take(
    message: PlannedMessage,
    finished: Finished,
    answer: Said | undefined,
    threaded: ReadonlyMap<string, string> | undefined,
  ): void {
    const { method = '' } = message
    const { response } = finished
    timers.delete(message.index)
    if (response !== undefined) {
      if (answer) values.learn(answer.text, answer.marks, response)
      if (tellsOffers(method)) {
        const goesOn = finished.original.includes('"cursor"')
        const first = goesOn ? plan.index.offers.listings.firstOf(message.row) : undefined
        offers.take(method, response, goesOn, { request: message.row, first })
      }
    }
    later.add(() => {
      const varying = clock.varyingAt(plan, message, finished)
      const comparison = compareMessage(plan, message, answer, finished, settings, offers, threaded, varying)
      outcomes.finish(message, finished, answer ? { recorded: answer.text, comparison } : { comparison })
    })
    const refusal = method === 'initialize' && answer ? refusalOf(finished, answer) : undefined
    if (refusal !== undefined) stop(`the handshake was refused: ${refusal}`)
    outcomes.answered(message)
    waiting.changed()
  }

  async function converse(): Promise<void> {
    for (const frame of plan.frames) {
      if (stopped !== undefined) return
      await sendFrame(frame, plan.frames.at(frame.number + 1))
    }
    const isQuiet = (): boolean =>
      reactions.size === 0 && outcomes.waiting().every((message) => message.loose)
    await waiting.until(() => stopped !== undefined || isQuiet())
    // The server may still make requests after the client's last one.
    const isExpected = (): boolean => [...open.values()].some(({ picker }) => picker.isExpected(Infinity))
    await waiting.until(() => stopped !== undefined || !isExpected(), timeoutMs)
  }

  /** Unfinished messages, in order. */
  async function* unfinished(): AsyncGenerator<PlannedMessage, void, undefined> {
    for (const frame of plan.frames) {
      const { firstIndex, count } = frame
      let isDone = true
      for (let index = firstIndex; index < firstIndex + count; index += 1)
        isDone &&= outcomes.isDone({ index })
      if (isDone) continue
      for (const message of plan.frames.messagesOf(frame, await plan.read(frame.locator)))
        if (!outcomes.isDone(message)) yield message
    }
  }

  /** Reports messages no longer awaited, messages not sent, and requests that the server did not make. */
  async function tellTheRest(): Promise<void> {
    let isAll = true
    for await (const message of unfinished()) {
      isAll = false
      const { text: original } = await ahead.said(message.row)
      const isSent = timers.has(message.index)
      clearTimeout(timers.get(message.index))
      const why =
        stopped ?? (message.kind === 'answer' ? 'the server did not send the request' : 'no reason known')
      const finished: Finished = !isSent
        ? { status: 'not sent', original, error: `Not sent: ${why}` }
        : stopped === undefined
          ? { status: 'sent', original, sent: original }
          : { status: 'interrupted', original, sent: original, error: `No response: ${stopped}` }
      if (message.kind !== 'request') outcomes.finish(message, finished)
      else {
        take(message, finished, message.peer < 0 ? undefined : await ahead.said(message.peer), undefined)
        later.finish()
      }
    }
    if (stopped !== undefined && isAll && isRecordedEnd(plan.session, stopped)) {
      ending.push(`${stopped}, as in the recording`)
      stopped = undefined
    }
    if (stopped !== undefined) return
    for (const { row } of [...open.values()].flatMap(({ picker }) => picker.left())) {
      const { record, part } = await plan.message(row)
      const { start, end, envelope } = record.parts[part]!
      const recorded = { text: record.raw.slice(start, end), seq: entries.seq(row) }
      questions.tell(compareQuestion(recorded, undefined, envelope, settings))
    }
  }

  const onAbort = (): void => stop('interrupted')
  signal.addEventListener('abort', onAbort)
  if (signal.aborted) onAbort()
  try {
    await converse()
  } finally {
    signal.removeEventListener('abort', onAbort)
    interrupted.close()
    await Promise.all([...open.values()].map(({ live }) => live.close()))
    await Promise.all(reactions)
    later.finish()
    for (const timer of timers.values()) clearTimeout(timer)
  }
  await tellTheRest()
  const changes =
    stopped === undefined ? compareOffers(plan.index.offers, offers, { partnerOf: (row) => row }) : []
  return {
    counts: tally.counts,
    offers: changes,
    latency: tally.latency(),
    times: tally.times,
    given: values.given(),
    ...fileMember(settings),
    ...tally.varied(),
    ...notesIn(
      ending,
      fileNotes(settings),
      noise.notes(),
      tally.notes(),
      restartNotes('during the recording', plan.index.restarts),
      offerNotes(plan.index.offers, offers),
    ),
    same: tally.isSame() && changes.every(isNote) && stopped === undefined && failedQuestions === 0,
    ...(stopped !== undefined && { stopped }),
    ...((unreachable as boolean) && { unreachable: true as const }),
  }
}

/** Why a handshake that was accepted in the recording is refused now. */
function refusalOf({ response, error }: Finished, recorded: Said): string | undefined {
  if (response !== undefined && readEnvelope(response, 0).kind !== 'error') return undefined
  if (readEnvelope(recorded.text, 0).kind === 'error') return undefined
  return (response === undefined ? error : failureOf(response)) ?? 'no response'
}

/** In the format of the documented result file: `10.0`. */
function seconds(ms: number): string {
  const text = String(ms / 1000)
  return text.includes('.') ? text : `${text}.0`
}
