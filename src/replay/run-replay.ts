import {
  compareOffers,
  createLatencies,
  createOffers,
  failureOf,
  isNote,
  marksOf,
  tellsOffers,
  verdicts,
  zeroCounts,
  type ExchangeComparison,
} from '../compare/index.js'
import type { Envelope } from '../model/index.js'
import type { ClientFrame } from '../transports/index.js'
import { readEnvelope, spliceText } from '../wire/index.js'
import {
  compareQuestion,
  createQuestionPicker,
  defaultAnswer,
  withId,
  type QuestionPicker,
} from './answer-question.js'
import { clientFrame } from './client-frame.js'
import { compareMessage } from './compare-message.js'
import { openHandshake } from './handshake.js'
import { openLive, type Connect, type LiveConnection } from './live-connection.js'
import { createLiveValues, type LiveText, type Mark } from './live-values.js'
import { createNoise } from './noise.js'
import { orderedOutcomes, type Finished } from './ordered-outcomes.js'
import type { Plan, PlannedFrame, PlannedMessage } from './plan.js'
import { createParamHeaders } from './param-headers.js'
import type { RunOptions, RunResult, RunSink, RunTime } from './run-options.js'
import { createWaiting } from './waiting.js'

interface Open {
  readonly live: LiveConnection
  readonly picker: QuestionPicker
}

interface Said {
  readonly text: string
  readonly marks: readonly Mark[]
}

/** Acts as the client of a recording, once. */
export async function runReplay(
  plan: Plan,
  connect: Connect,
  options: RunOptions,
  sink: RunSink,
): Promise<RunResult> {
  const { timeoutMs, settings, signal } = options
  const { entries } = plan.index
  const values = createLiveValues(options.sets)
  const offers = createOffers()
  const noise = createNoise()
  const paramHeaders = createParamHeaders([offers, plan.index.offers])
  const latencies = createLatencies()
  const times: RunTime[] = []
  const counts = zeroCounts()
  const open = new Map<string, Open>()
  const waiting = createWaiting(signal)
  /** Work that messages from the server began. */
  const reactions = new Set<Promise<void>>()
  const timers = new Map<PlannedMessage, NodeJS.Timeout>()
  let stopped: string | undefined
  let unreachable = false
  let failedQuestions = 0
  const startedMs = performance.now()

  const outcomes = orderedOutcomes(plan, (outcome) => {
    if (outcome.comparison) count(outcome.comparison)
    sink.outcome(outcome)
  })

  function count(comparison: ExchangeComparison): void {
    counts[comparison.verdict] += 1
    const { method, name, direction, before, after } = comparison
    const subject = { method, direction, ...(name !== undefined && { name }) }
    latencies.add(subject, before?.latencyUs, after?.latencyUs)
    times.push({ subject, beforeUs: before?.latencyUs, afterUs: after?.latencyUs })
  }

  function tellQuestion(comparison: ExchangeComparison): void {
    count(comparison)
    sink.question(comparison)
  }

  function stop(why: string): void {
    stopped ??= why
    waiting.changed()
  }

  function react(work: Promise<void>): void {
    const settled = work
      .catch((error: unknown) => stop(error instanceof Error ? error.message : String(error)))
      .finally(() => {
        reactions.delete(settled)
        waiting.changed()
      })
    reactions.add(settled)
  }

  async function said(row: number): Promise<Said> {
    const { record, part } = await plan.message(row)
    const { start, end } = record.parts[part]!
    return { text: record.raw.slice(start, end), marks: marksOf(record, part) }
  }

  async function connectionOf(frame: PlannedFrame): Promise<Open | undefined> {
    const known = open.get(frame.connection)
    if (known) return known
    const picker = createQuestionPicker(plan, frame.connection)
    const live = await openLive(connect, {
      question: (text, envelope) => react(answerQuestion(frame.connection, picker, text, envelope)),
      noise: (text) => noise.take(text),
      ended: stop,
    })
    if ('error' in live) {
      unreachable = open.size === 0
      stop(live.error)
      return undefined
    }
    const opened = { live, picker }
    open.set(frame.connection, opened)
    const planned = plan.connections.get(frame.connection)!
    if (planned.opening === 'missing' && options.handshake) {
      const refused = await openHandshake(plan, planned, live, timeoutMs)
      if (refused !== undefined) stop(refused)
    }
    return opened
  }

  async function answerQuestion(
    connection: string,
    picker: QuestionPicker,
    text: string,
    envelope: Envelope,
  ): Promise<void> {
    const { method = '', id = 'null' } = envelope
    const { live } = open.get(connection)!
    const question = picker.pick(text, method)
    if (!question) {
      if (method !== 'ping') {
        if (options.unanswered === 'fail') failedQuestions += 1
        const notes = ['the recording has no such request of the server']
        tellQuestion({ ...compareQuestion(undefined, text, envelope, settings), notes })
      }
      const answer = defaultAnswer(envelope, options.unanswered)
      return live.send(clientFrame(answer, [answer]))
    }
    const asked = await said(question.row)
    values.learn(asked.text, asked.marks, text)
    tellQuestion(
      compareQuestion({ text: asked.text, seq: entries.seq(question.row) }, text, envelope, settings),
    )
    if (question.answerRow < 0) return
    const answer = await said(question.answerRow)
    const liveText = values.apply(answer.text, answer.marks)
    const sent = withId(liveText.text, id)
    const { replaced } = liveText
    const kept = withId(liveText.kept, id)
    outcomes.finishRow(question.answerRow, { status: 'sent', original: answer.text, sent, kept, replaced })
    await live.send(clientFrame(sent, [sent]))
  }

  /** Until all that the recorded client had waited for is here, or will not come. */
  async function whenItIsTime(frame: PlannedFrame, { picker }: Open): Promise<void> {
    const isBefore = ({ peer }: PlannedMessage): boolean =>
      peer >= 0 && (options.concurrency === 'one' || peer < frame.row)
    const isOver = (): boolean => stopped !== undefined
    await waiting.until(
      () => isOver() || ![...outcomes.waiting()].some((message) => !message.loose && isBefore(message)),
    )
    // What the server asked before the client went on may be what its next answer depends on.
    await waiting.until(() => isOver() || !picker.isExpected(frame.row), timeoutMs)
    picker.giveUp(frame.row)
    const dueMs = (frame.us - plan.frames[0]!.us) / 1000 / options.speed
    await waiting.until(isOver, dueMs - (performance.now() - startedMs))
  }

  async function sendFrame(frame: PlannedFrame): Promise<void> {
    // Answers are given when the server asks.
    if (frame.messages.every(({ kind, peer }) => kind === 'answer' && peer >= 0)) return
    const opened = await connectionOf(frame)
    if (!opened || stopped !== undefined) return
    await whenItIsTime(frame, opened)
    if (stopped !== undefined) return
    const record = await plan.read(frame.locator)
    const texts = frame.messages.map((message) => {
      const { start, end } = record.parts[message.part]!
      const original = record.raw.slice(start, end)
      return { message, start, end, original, live: values.apply(original, marksOf(record, message.part)) }
    })
    const edits = texts.map(({ start, end, live: { text } }) => ({ start, end, text }))
    const isWhole = texts.length === record.parts.length
    // A part of a batch, where a filter leaves the others out.
    const text = isWhole ? spliceText(record.raw, edits) : `[${edits.map((edit) => edit.text).join(',')}]`
    const lives = texts.map(({ live }) => live.text)
    const sent = clientFrame(text, lives, paramHeaders)
    for (const { message, original, live } of texts) expectAnswer(opened.live, sent, message, original, live)
    await opened.live.send(sent)
    const refusal = opened.live.refusalOf(sent)
    for (const { message, original, live } of texts) {
      if (message.kind === 'request') continue
      const finished = { original, sent: live.text, kept: live.kept, replaced: live.replaced }
      if (refusal === undefined) outcomes.finish(message, { ...finished, status: 'sent' })
      else await finishRequest(message, { ...finished, status: 'failed', error: `Write failed: ${refusal}` })
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
    const base = { original, sent: text, kept, replaced }
    outcomes.began(message)
    const timer = setTimeout(() => {
      live.forget(id)
      react(
        finishRequest(message, {
          ...base,
          status: 'timed out',
          error: `Timeout after ${seconds(timeoutMs)}s`,
        }),
      )
    }, timeoutMs)
    timers.set(message, timer)
    live.expect(id, {
      frame,
      settle(result) {
        clearTimeout(timer)
        const durationUs = Math.round((performance.now() - sentAtMs) * 1000)
        const came: Finished =
          'text' in result
            ? { ...base, status: 'answered', response: result.text, durationUs }
            : { ...base, status: 'failed', error: result.error, durationUs }
        react(finishRequest(message, came, threaded))
      },
    })
  }

  /** Compares, learns, and hands on. */
  async function finishRequest(
    message: PlannedMessage,
    finished: Finished,
    threaded?: ReadonlyMap<string, string>,
  ): Promise<void> {
    const { method = '', peer } = message
    const { response } = finished
    const answer = peer < 0 ? undefined : await said(peer)
    timers.delete(message)
    if (response !== undefined) {
      if (answer) values.learn(answer.text, answer.marks, response)
      if (tellsOffers(method)) offers.take(method, response, finished.original.includes('"cursor"'))
    }
    const comparison = compareMessage(plan, message, answer, finished, settings, offers, threaded)
    outcomes.finish(message, { ...finished, ...(answer && { recorded: answer.text }), comparison })
    const isRefused = response === undefined || readEnvelope(response, 0).kind === 'error'
    if (method === 'initialize' && isRefused && answer && readEnvelope(answer.text, 0).kind !== 'error') {
      const why = response === undefined ? finished.error : failureOf(response)
      stop(`the handshake was refused: ${why ?? 'no answer'}`)
    }
  }

  async function converse(): Promise<void> {
    for (const frame of plan.frames) {
      if (stopped !== undefined) return
      await sendFrame(frame)
    }
    const isQuiet = (): boolean =>
      reactions.size === 0 && [...outcomes.waiting()].every((message) => message.loose)
    await waiting.until(() => stopped !== undefined || isQuiet())
    // A server that is asked no more may still have questions.
    const isExpected = (): boolean => [...open.values()].some(({ picker }) => picker.isExpected(Infinity))
    await waiting.until(() => stopped !== undefined || !isExpected(), timeoutMs)
  }

  /** What was sent and is not waited for, what was not sent, and what the server did not ask. */
  async function tellTheRest(): Promise<void> {
    for (const message of outcomes.rest()) {
      const { text: original } = await said(message.row)
      const isSent = timers.has(message)
      clearTimeout(timers.get(message))
      const why = stopped ?? (message.kind === 'answer' ? 'the server did not ask' : 'it could not be')
      const finished: Finished = !isSent
        ? { status: 'not sent', original, error: `Not sent: ${why}` }
        : stopped === undefined
          ? { status: 'sent', original, sent: original }
          : { status: 'timed out', original, sent: original, error: `No answer: ${stopped}` }
      if (message.kind === 'request') await finishRequest(message, finished)
      else outcomes.finish(message, finished)
    }
    if (stopped !== undefined) return
    for (const { row } of [...open.values()].flatMap(({ picker }) => picker.left())) {
      const { record, part } = await plan.message(row)
      const { start, end, envelope } = record.parts[part]!
      const recorded = { text: record.raw.slice(start, end), seq: entries.seq(row) }
      tellQuestion(compareQuestion(recorded, undefined, envelope, settings))
    }
  }

  const onAbort = (): void => stop('interrupted')
  signal.addEventListener('abort', onAbort)
  if (signal.aborted) onAbort()
  try {
    await converse()
  } finally {
    signal.removeEventListener('abort', onAbort)
    await Promise.all([...open.values()].map(({ live }) => live.close()))
    await Promise.all(reactions)
    for (const timer of timers.values()) clearTimeout(timer)
  }
  await tellTheRest()
  const changes = stopped === undefined ? compareOffers(plan.index.offers, offers) : []
  const note = noise.note()
  const isSame =
    verdicts.every((verdict) => verdict === 'same' || counts[verdict] === 0) && changes.every(isNote)
  return {
    counts,
    offers: changes,
    latency: latencies.list(),
    times,
    ...(note !== undefined && { notes: [note] }),
    same: isSame && stopped === undefined && failedQuestions === 0,
    ...(stopped !== undefined && { stopped }),
    ...((unreachable as boolean) && { unreachable: true as const }),
  }
}

/** As the documented result file writes it: `10.0`. */
function seconds(ms: number): string {
  const text = String(ms / 1000)
  return text.includes('.') ? text : `${text}.0`
}
