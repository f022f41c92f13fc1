import { setMaxListeners } from 'node:events'
import { idKey, isFault, messagesOf, readEnvelope, readMessages, readParts } from '../wire/index.js'
import type { Envelope } from '../model/index.js'
import { faultAnswer, faultText, type FaultyMessage } from './fault.js'
import { greetingFor } from './greeting.js'
import { invalidAnswer } from './invalid-answer.js'
import { createGate, type Gate, type LiveCall } from './live-call.js'
import { toLiveText } from './live-text.js'
import { explainMiss, missAnswer, type Miss } from './miss.js'
import { sleep, waitMs, type Pace } from './pace.js'
import { createPicker, type Choice } from './picker.js'
import type { Play } from './play.js'
import { readingPause } from './reading-pause.js'
import { comesInOnePiece, conversationStart, noRow } from './script.js'
import type { ServerLink } from '../link/index.js'
import type { Fallback } from './fallback/contract.js'

export interface ConversationOptions {
  readonly play: Play
  /** Number of the recorded conversation that this one follows. */
  readonly recorded: number
  readonly repeatLast: boolean
  readonly pace: Pace
  /** For messages that belong to no request. */
  readonly standalone: ServerLink
  readonly fallback?: Fallback | undefined
  /** Every call goes to the fallback. */
  readonly askAlways?: boolean
  onServed(row: number): void
  onMiss(miss: Miss): void
  /** The client made the call at which the recorded server ended. */
  onDeath(): void
  /** A message of the client could not be processed; the reason in one line. */
  onFault(line: string): void
}

/** A live client's conversation with the recorded server. */
export interface Conversation {
  /** Sends the messages that the server sent before the client's first one. */
  readonly start: () => void
  /**
   * Takes one frame of the client: a message, or a batch of them.
   *
   * @param sink for the responses, and for messages before them
   * @returns false when the frame is not JSON
   */
  readonly take: (text: string, sink?: ServerLink) => boolean
  /** The recorded call that matches the first call of this frame (which must be JSON); -1 for none. */
  readonly fits: (text: string) => number
  /** The client no longer waits for the response to the call with this id (exact JSON text). */
  readonly leave: (id: string) => void
  /** Resolves when more frames may be taken. */
  readonly ready: () => Promise<void>
  /** The client sends nothing more. Resolves when everything that does not wait for the client was sent. */
  readonly end: () => Promise<void>
  /** Stops sending. Can be called twice. */
  readonly close: () => Promise<void>
}

/** Our own ids for requests of the server whose recorded id is in use. */
const firstOwnId = 1_000_000_000

export function createConversation(options: ConversationOptions): Conversation {
  const { play, pace, standalone, fallback } = options
  const { script } = play
  const picker = createPicker(play, options.recorded, options.repeatLast)
  const calls = new Map<string, LiveCall>()
  /** By recorded call: live calls that later messages refer to (progress of a task, a subscription). */
  const liveOf = new Map<number, LiveCall>()
  const questions = new Map<string, { readonly row: number; readonly replied: Gate }>()
  const usedIds = new Set<string>()
  const liveQuestionIds = new Map<number, string>()
  const closing = new AbortController()
  // Any number of messages may be waiting on this signal.
  setMaxListeners(0, closing.signal)
  const running = new Set<Promise<void>>()
  let nextOwnId = firstOwnId
  /** The client sends nothing more; waiting for it is in vain. */
  let over = false
  /** The recorded server has ended. */
  let dead = false

  function run(work: Promise<void>, about?: FaultyMessage): void {
    const tracked: Promise<void> = work
      .catch((error: unknown) => tellFault(error, about))
      // The error could not be sent there either.
      .catch(() => (about?.sink ?? standalone).cut?.())
      .finally(() => running.delete(tracked))
    running.add(tracked)
  }

  /** An error at one message (a lost disk, a throwing listener) must not end anything else. */
  async function tellFault(error: unknown, about: FaultyMessage | undefined): Promise<void> {
    const message = faultText(error, about)
    options.onFault(message)
    if (!about || about.call?.answered) return
    if (about.call) forget(about.call)
    const { envelope, sink } = about
    if (envelope.kind === 'request')
      await sink.send({ text: faultAnswer(envelope.id!, message), final: true })
  }

  /** Sends the messages that follow from a recorded message of the client, in the recorded order. */
  async function perform(cause: number, call: LiveCall | undefined): Promise<void> {
    const signal = call?.stop.signal ?? closing.signal
    const asked: { readonly row: number; readonly replied: Gate }[] = []
    let since = script.us(cause)
    const reading = call?.envelope.progressToken === undefined ? undefined : readingPause(script, cause)
    for (let row = script.firstEffect(cause); row !== noRow; row = script.nextEffect(row)) {
      for (const { row: question, replied } of asked) {
        const reply = script.closedBy(question)
        if (reply === noRow || reply > row) continue
        if (!(await replied.passed)) return
        since = Math.max(since, script.us(reply))
      }
      const cancel = call ? script.closedBy(call.row) : noRow
      if (call && cancel !== noRow && cancel <= row && !(await call.cancelled.passed)) return
      const ms = Math.max(waitMs(pace, script.us(row) - since), row === reading?.row ? reading.ms : 0)
      since = Math.max(since, script.us(row))
      if (ms > 0) await sleep(ms, signal)
      if (signal.aborted) return
      await say(row, call, asked)
    }
    if (call) await finish(call)
  }

  async function finish(call: LiveCall): Promise<void> {
    if (call.answered || call.stop.signal.aborted) return
    const { method } = call.envelope
    // Cancelled calls and subscriptions stay open as recorded.
    if (script.closedBy(call.row) !== noRow || method === 'subscriptions/listen') return
    if (play.death?.call === call.row) {
      dead = true
      forget(call)
      options.onDeath()
      const dying = call.sink.cut ? call.sink : standalone
      return dying.cut?.()
    }
    const miss = explainMiss(play, call.text, call.envelope, { kind: 'unanswered', row: call.row })
    options.onMiss(miss)
    forget(call)
    await call.sink.send({ text: missAnswer(call.id, miss), final: true })
  }

  async function say(
    row: number,
    call: LiveCall | undefined,
    asked: { row: number; replied: Gate }[],
  ): Promise<void> {
    const kind = script.kind(row)
    const text = script.text(row)
    if (kind === 'noise') return standalone.send({ text, noise: true })
    if (kind === 'refusal') {
      // If the refusal can no longer be sent, the call stays unanswered, which is reported.
      if (!call || call.answered || !call.sink.refuse?.({ status: script.status(row), text })) return
      forget(call)
      return options.onServed(row)
    }
    const envelope = readEnvelope(text, 0)
    const named = script.names(row)
    const subscription = envelope.subscriptionId === undefined ? undefined : (liveOf.get(named) ?? call)
    const values = {
      secret: secretFor,
      ...(kind === 'answer' && envelope.id !== undefined && envelope.id !== 'null' && { id: call?.id }),
      ...(envelope.subscriptionId !== undefined && { subscriptionId: subscription?.id }),
    }
    const marks = script.marks(row)
    const way = script.way(row)
    const status = script.status(row)
    const more = { ...(status > 0 && { status }), streamed: way === 'request-stream' }
    if (kind === 'answer') {
      const final = call !== undefined && !call.answered
      const live = toLiveText(text, marks, values)
      if (call && final) {
        if (envelope.resultType === 'input_required')
          picker.askedForMore(call.row, call.text, call.envelope, readEnvelope(live, 0))
        forget(call)
        options.onServed(row)
      }
      return (final && call ? call.sink : standalone).send({ text: live, final, ...more })
    }
    const sink = sinkOf(call, way === 'other-stream')
    if (kind === 'question') {
      const id = questionId(envelope.id ?? 'null')
      const question = { row, replied: createGate() }
      if (over) question.replied.open(false)
      questions.set(idKey(id), question)
      liveQuestionIds.set(row, id)
      asked.push(question)
      return sink.send({ text: toLiveText(text, marks, { ...values, id }), ...more })
    }
    if (envelope.method === 'notifications/progress') {
      const token = (named === call?.row ? call : liveOf.get(named))?.envelope.progressToken
      // A client without a token wants no progress.
      if (named !== noRow && token === undefined) return
      return sink.send({ text: toLiveText(text, marks, { ...values, progressToken: token }), ...more })
    }
    const requestId = liveQuestionIds.get(named) ?? liveOf.get(named)?.id
    const live = toLiveText(text, marks, {
      ...values,
      ...(envelope.method === 'notifications/cancelled' && { requestId }),
    })
    return (subscription?.sink ?? sink).send({ text: live, ...more })
  }

  function sinkOf(call: LiveCall | undefined, elsewhere: boolean): ServerLink {
    if (!call || call.answered) return standalone
    return elsewhere && standalone.isOpen ? standalone : call.sink
  }

  /** A redacted value that the client has to return is identified by its tag. */
  function secretFor(tag: string): string | undefined {
    const known = picker.secrets.get(tag)
    if (known !== undefined || !play.saidTags.has(tag)) return known
    const standIn = JSON.stringify(`[REDACTED:${tag}]`)
    picker.secrets.set(tag, standIn)
    return standIn
  }

  function questionId(recorded: string): string {
    const id = usedIds.has(idKey(recorded)) ? String((nextOwnId += 1)) : recorded
    usedIds.add(idKey(id))
    return id
  }

  function forget(call: LiveCall): void {
    call.answered = true
    const key = idKey(call.id)
    if (calls.get(key) === call) calls.delete(key)
  }

  function takeCall(text: string, envelope: Envelope, sink: ServerLink): void {
    if (dead) return sink.cut?.()
    const id = envelope.id!
    const choice = picker.call(text, envelope)
    if (fallback && options.askAlways)
      return fallback.ask(text, envelope, sink, choice.kind === 'found' ? choice.row : noRow)
    if (choice.kind !== 'found') return miss(text, envelope, id, choice, sink)
    const call: LiveCall = {
      row: choice.row,
      text,
      envelope,
      id,
      sink,
      stop: new AbortController(),
      cancelled: createGate(),
      answered: false,
    }
    if (closing.signal.aborted) return
    fallback?.heard(choice.row, text, envelope)
    if (envelope.method === 'initialize') fallback?.greet(text, envelope)
    calls.set(idKey(id), call)
    if (script.isNamed(choice.row)) liveOf.set(choice.row, call)
    if (comesInOnePiece(script, choice.row)) sink.inOnePiece?.()
    run(perform(choice.row, call), { envelope, sink, call })
  }

  function miss(
    text: string,
    envelope: Envelope,
    id: string,
    choice: Exclude<Choice, { kind: 'found' }>,
    sink: ServerLink,
  ): void {
    // Either side may ping at any time; a ping says nothing about the recorded server.
    if (envelope.method === 'ping') {
      return run(sink.send({ text: `{"jsonrpc":"2.0","id":${id},"result":{}}`, final: true }))
    }
    if (fallback) return fallback.ask(text, envelope, sink, noRow)
    const greeting = choice.kind === 'unknown' ? greetingFor(play, envelope) : undefined
    if (greeting !== undefined) {
      return run(sink.send({ text: `{"jsonrpc":"2.0","id":${id},"result":${greeting}}`, final: true }))
    }
    const why = explainMiss(play, text, envelope, choice)
    // Clients of both eras send this to every server of the older one, and expect an error there.
    if (envelope.method !== 'server/discover') options.onMiss(why)
    run(sink.send({ text: missAnswer(id, why), final: true }))
  }

  function takeMessage(text: string, envelope: Envelope, sink: ServerLink): void {
    if (envelope.kind === 'request') takeCall(text, envelope, sink)
    else if (envelope.kind === 'notification') takeNote(text, envelope)
    else if (envelope.kind === 'invalid') refuse(text, envelope, sink)
    else takeReply(text, envelope)
  }

  function refuse(text: string, envelope: Envelope, sink: ServerLink): void {
    const answer = invalidAnswer(text, envelope)
    if (answer !== undefined) run(sink.send({ text: answer, final: true }))
  }

  function takeReply(text: string, envelope: Envelope): void {
    const key = idKey(envelope.id ?? 'null')
    const question = questions.get(key)
    if (!question) return void fallback?.reply(text, envelope)
    questions.delete(key)
    question.replied.open(true)
    const reply = script.closedBy(question.row)
    if (reply !== noRow) run(perform(reply, undefined))
  }

  function takeNote(text: string, envelope: Envelope): void {
    if (envelope.method === 'notifications/cancelled' && envelope.cancels !== undefined) {
      fallback?.note(text, envelope, noRow)
      return leave(envelope.cancels)
    }
    const row = picker.note(text, envelope)
    fallback?.note(text, envelope, row)
    if (row !== noRow) run(perform(row, undefined))
  }

  function leave(id: string): void {
    const call = calls.get(idKey(id))
    if (!call) return
    const cancel = script.closedBy(call.row)
    if (cancel === noRow) {
      // Without a recorded cancellation, the call simply stops.
      call.stop.abort()
      return forget(call)
    }
    call.cancelled.open(true)
    if (script.kind(cancel) === 'note') run(perform(cancel, undefined))
    if (script.answerTo(call.row) === noRow) forget(call)
  }

  function waitNoMore(): void {
    for (const { cancelled } of calls.values()) cancelled.open(false)
    for (const { replied } of questions.values()) replied.open(false)
    over = true
  }

  return {
    start: () => run(perform(conversationStart(options.recorded), undefined)),
    take(text, sink = standalone) {
      const frame = readMessages(text)
      if (isFault(frame)) return false
      for (const { text: message, envelope } of messagesOf(frame)) {
        try {
          takeMessage(message, envelope, sink)
        } catch (error) {
          run(Promise.reject(error), { envelope, sink })
        }
      }
      return true
    },
    fits(text) {
      const asked = messagesOf(readParts(text)).find(({ envelope }) => envelope.kind === 'request')
      return asked ? picker.fits(asked.text, asked.envelope) : noRow
    },
    leave,
    ready: () => fallback?.ready() ?? Promise.resolve(),
    async end() {
      waitNoMore()
      while (running.size > 0) await Promise.all(running)
      await fallback?.settled()
    },
    async close() {
      closing.abort()
      for (const call of calls.values()) call.stop.abort()
      waitNoMore()
      await Promise.all(running)
      await fallback?.close()
    },
  }
}
