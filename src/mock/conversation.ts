import { setMaxListeners } from 'node:events'
import { idKey, isFault, messagesOf, readEnvelope, readMessages, readParts } from '../wire/index.js'
import type { Envelope, RedactionMark } from '../model/index.js'
import { faultAnswer, faultText, type FaultyMessage } from './fault.js'
import { greetingFor } from './greeting.js'
import { invalidAnswer } from './invalid-answer.js'
import { createGate, type LiveCall } from './live-call.js'
import { LiveQuestions, type LiveQuestion } from './live-questions.js'
import { toLiveText, type LiveValues } from './live-text.js'
import { explainMiss, missAnswer, type Miss } from './miss.js'
import { sleep, waitMs, type Pace } from './pace.js'
import { createPicker, type Choice } from './picker.js'
import type { Play } from './play.js'
import { readingPause } from './reading-pause.js'
import { RunningWork } from './running-work.js'
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
  start(): void
  /**
   * Takes one frame of the client: a message, or a batch of them.
   *
   * @param sink for the responses, and for messages before them
   * @returns false when the frame is not JSON
   */
  take(text: string, sink?: ServerLink): boolean
  /** The recorded call that matches the first call of this frame (which must be JSON); -1 for none. */
  fits(text: string): number
  /** The client no longer waits for the response to the call with this id (exact JSON text). */
  leave(id: string): void
  /** Resolves when more frames may be taken. */
  ready(): Promise<void>
  /** The client sends nothing more. Resolves when everything that does not wait for the client was sent. */
  end(): Promise<void>
  /** Stops sending. Can be called twice. */
  close(): Promise<void>
}

export function createConversation(options: ConversationOptions): Conversation {
  return new RecordedConversation(options)
}

/** A recorded message of the server, about to be sent. */
interface Saying {
  readonly row: number
  readonly text: string
  readonly envelope: Envelope
  readonly marks: readonly RedactionMark[]
  readonly values: LiveValues
  /** The recorded call that the message refers to. */
  readonly named: number
  /** The live call that opened the subscription of the message. */
  readonly subscription: LiveCall | undefined
  /** Recorded details of sending. */
  readonly way: { readonly status?: number; readonly streamed: boolean }
}

class RecordedConversation implements Conversation {
  readonly #options: ConversationOptions
  readonly #picker
  readonly #calls = new Map<string, LiveCall>()
  /** By recorded call: live calls that later messages refer to (progress of a task, a subscription). */
  readonly #liveOf = new Map<number, LiveCall>()
  readonly #questions = new LiveQuestions()
  readonly #closing = new AbortController()
  readonly #running = new RunningWork()
  /** The recorded server has ended. */
  #isDead = false

  constructor(options: ConversationOptions) {
    this.#options = options
    this.#picker = createPicker(options.play, options.recorded, options.repeatLast)
    // Any number of messages may be waiting on this signal.
    setMaxListeners(0, this.#closing.signal)
  }

  start(): void {
    this.#run(this.#perform(conversationStart(this.#options.recorded), undefined))
  }

  take(text: string, sink: ServerLink = this.#options.standalone): boolean {
    const frame = readMessages(text)
    if (isFault(frame)) return false
    for (const { text: message, envelope } of messagesOf(frame)) {
      try {
        this.#takeMessage(message, envelope, sink)
      } catch (error) {
        this.#run(Promise.reject(error), { envelope, sink })
      }
    }
    return true
  }

  fits(text: string): number {
    const asked = messagesOf(readParts(text)).find(({ envelope }) => envelope.kind === 'request')
    return asked ? this.#picker.fits(asked.text, asked.envelope) : noRow
  }

  leave(id: string): void {
    const { script } = this.#options.play
    const call = this.#calls.get(idKey(id))
    if (!call) return
    const cancel = script.closedBy(call.row)
    if (cancel === noRow) {
      // Without a recorded cancellation, the call simply stops.
      call.stop.abort()
      return this.#forget(call)
    }
    call.cancelled.open(true)
    if (script.kind(cancel) === 'note') this.#run(this.#perform(cancel, undefined))
    if (script.answerTo(call.row) === noRow) this.#forget(call)
  }

  async ready(): Promise<void> {
    await this.#options.fallback?.ready()
  }

  async end(): Promise<void> {
    this.#waitNoMore()
    await this.#running.all()
    await this.#options.fallback?.settled()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    for (const call of this.#calls.values()) call.stop.abort()
    this.#waitNoMore()
    await this.#running.present()
    await this.#options.fallback?.close()
  }

  #waitNoMore(): void {
    for (const { cancelled } of this.#calls.values()) cancelled.open(false)
    this.#questions.giveUp()
  }

  #run(work: Promise<void>, about?: FaultyMessage): void {
    this.#running.add(
      work
        .catch((error: unknown) => this.#tellFault(error, about))
        // The error could not be sent there either.
        .catch(() => (about?.sink ?? this.#options.standalone).cut?.()),
    )
  }

  /** An error at one message (a lost disk, a throwing listener) must not end anything else. */
  async #tellFault(error: unknown, about: FaultyMessage | undefined): Promise<void> {
    const message = faultText(error, about)
    this.#options.onFault(message)
    if (!about || about.call?.answered) return
    if (about.call) this.#forget(about.call)
    const { envelope, sink } = about
    if (envelope.kind === 'request')
      await sink.send({ text: faultAnswer(envelope.id!, message), final: true })
  }

  #takeMessage(text: string, envelope: Envelope, sink: ServerLink): void {
    if (envelope.kind === 'request') this.#takeCall(text, envelope, sink)
    else if (envelope.kind === 'notification') this.#takeNote(text, envelope)
    else if (envelope.kind === 'invalid') this.#refuse(text, envelope, sink)
    else this.#takeReply(text, envelope)
  }

  #takeCall(text: string, envelope: Envelope, sink: ServerLink): void {
    const { fallback, askAlways, play } = this.#options
    if (this.#isDead) return sink.cut?.()
    const id = envelope.id!
    const choice = this.#picker.call(text, envelope)
    if (fallback && askAlways)
      return fallback.ask(text, envelope, sink, choice.kind === 'found' ? choice.row : noRow)
    if (choice.kind !== 'found') return this.#miss(text, envelope, choice, sink)
    const { row } = choice
    const call: LiveCall = {
      row,
      text,
      envelope,
      id,
      sink,
      stop: new AbortController(),
      cancelled: createGate(),
      answered: false,
    }
    if (this.#closing.signal.aborted) return
    fallback?.heard(row, text, envelope)
    if (envelope.method === 'initialize') fallback?.greet(text, envelope)
    this.#calls.set(idKey(id), call)
    if (play.script.isNamed(row)) this.#liveOf.set(row, call)
    if (comesInOnePiece(play.script, row)) sink.inOnePiece?.()
    this.#run(this.#perform(row, call), { envelope, sink, call })
  }

  #miss(
    text: string,
    envelope: Envelope,
    choice: Exclude<Choice, { kind: 'found' }>,
    sink: ServerLink,
  ): void {
    const { play, fallback } = this.#options
    const id = envelope.id!
    const respond = (result: string): void =>
      this.#run(sink.send({ text: `{"jsonrpc":"2.0","id":${id},"result":${result}}`, final: true }))
    // Either side may ping at any time; a ping says nothing about the recorded server.
    if (envelope.method === 'ping') return respond('{}')
    if (fallback) return fallback.ask(text, envelope, sink, noRow)
    const greeting = choice.kind === 'unknown' ? greetingFor(play, envelope) : undefined
    if (greeting !== undefined) return respond(greeting)
    const why = explainMiss(play, text, envelope, choice)
    // Clients of both eras send this to every server of the older one, and expect an error there.
    if (envelope.method !== 'server/discover') this.#options.onMiss(why)
    this.#run(sink.send({ text: missAnswer(id, why), final: true }))
  }

  #refuse(text: string, envelope: Envelope, sink: ServerLink): void {
    const answer = invalidAnswer(text, envelope)
    if (answer !== undefined) this.#run(sink.send({ text: answer, final: true }))
  }

  #takeReply(text: string, envelope: Envelope): void {
    const { play, fallback } = this.#options
    const question = this.#questions.reply(envelope.id ?? 'null')
    if (!question) return void fallback?.reply(text, envelope)
    const reply = play.script.closedBy(question.row)
    if (reply !== noRow) this.#run(this.#perform(reply, undefined))
  }

  #takeNote(text: string, envelope: Envelope): void {
    const { fallback } = this.#options
    if (envelope.method === 'notifications/cancelled' && envelope.cancels !== undefined) {
      fallback?.note(text, envelope, noRow)
      return this.leave(envelope.cancels)
    }
    const row = this.#picker.note(text, envelope)
    fallback?.note(text, envelope, row)
    if (row !== noRow) this.#run(this.#perform(row, undefined))
  }

  /** Sends the messages that follow from a recorded message of the client, in the recorded order. */
  async #perform(cause: number, call: LiveCall | undefined): Promise<void> {
    const { pace, play } = this.#options
    const { script } = play
    const signal = call?.stop.signal ?? this.#closing.signal
    const asked: LiveQuestion[] = []
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
      await this.#say(row, call, asked)
    }
    if (call) await this.#finish(call)
  }

  /** @param asked takes the message if it is a request */
  async #say(row: number, call: LiveCall | undefined, asked: LiveQuestion[]): Promise<void> {
    const { standalone, play } = this.#options
    const { script } = play
    const kind = script.kind(row)
    const text = script.text(row)
    if (kind === 'noise') return standalone.send({ text, noise: true })
    if (kind === 'refusal') {
      // If the refusal can no longer be sent, the call stays unanswered, which is reported.
      if (!call || call.answered || !call.sink.refuse?.({ status: script.status(row), text })) return
      this.#forget(call)
      return this.#options.onServed(row)
    }
    const saying = this.#sayingOf(row, text, call)
    if (kind === 'answer') return this.#sayAnswer(saying, call)
    const sink = this.#sinkOf(call, script.way(row) === 'other-stream')
    return kind === 'question' ? this.#ask(saying, sink, asked) : this.#notify(saying, call, sink)
  }

  #sayingOf(row: number, text: string, call: LiveCall | undefined): Saying {
    const { script } = this.#options.play
    const envelope = readEnvelope(text, 0)
    const named = script.names(row)
    const subscription = envelope.subscriptionId === undefined ? undefined : (this.#liveOf.get(named) ?? call)
    const hasId = script.kind(row) === 'answer' && envelope.id !== undefined && envelope.id !== 'null'
    const status = script.status(row)
    return {
      row,
      text,
      envelope,
      named,
      subscription,
      marks: script.marks(row),
      values: {
        secret: this.#secretFor,
        ...(hasId && { id: call?.id }),
        ...(envelope.subscriptionId !== undefined && { subscriptionId: subscription?.id }),
      },
      way: { ...(status > 0 && { status }), streamed: script.way(row) === 'request-stream' },
    }
  }

  #sayAnswer({ row, text, envelope, marks, values, way }: Saying, call: LiveCall | undefined): Promise<void> {
    const live = toLiveText(text, marks, values)
    if (!call || call.answered) return this.#options.standalone.send({ text: live, final: false, ...way })
    if (envelope.resultType === 'input_required')
      this.#picker.askedForMore(call.row, call.text, call.envelope, readEnvelope(live, 0))
    this.#forget(call)
    this.#options.onServed(row)
    return call.sink.send({ text: live, final: true, ...way })
  }

  #ask(saying: Saying, sink: ServerLink, asked: LiveQuestion[]): Promise<void> {
    const { row, text, envelope, marks, values, way } = saying
    const { id, question } = this.#questions.ask(row, envelope.id ?? 'null')
    asked.push(question)
    return sink.send({ text: toLiveText(text, marks, { ...values, id }), ...way })
  }

  async #notify(saying: Saying, call: LiveCall | undefined, sink: ServerLink): Promise<void> {
    const { text, envelope, named, subscription, marks, values, way } = saying
    if (envelope.method === 'notifications/progress') {
      const token = (named === call?.row ? call : this.#liveOf.get(named))?.envelope.progressToken
      // A client without a token wants no progress.
      if (named !== noRow && token === undefined) return
      return sink.send({ text: toLiveText(text, marks, { ...values, progressToken: token }), ...way })
    }
    const requestId = this.#questions.idOf(named) ?? this.#liveOf.get(named)?.id
    const live = toLiveText(text, marks, {
      ...values,
      ...(envelope.method === 'notifications/cancelled' && { requestId }),
    })
    return (subscription?.sink ?? sink).send({ text: live, ...way })
  }

  async #finish(call: LiveCall): Promise<void> {
    const { play, standalone } = this.#options
    if (call.answered || call.stop.signal.aborted) return
    // Cancelled calls and subscriptions stay open as recorded.
    if (play.script.closedBy(call.row) !== noRow || call.envelope.method === 'subscriptions/listen') return
    if (play.death?.call === call.row) {
      this.#isDead = true
      this.#forget(call)
      this.#options.onDeath()
      const dying = call.sink.cut ? call.sink : standalone
      return dying.cut?.()
    }
    const miss = explainMiss(play, call.text, call.envelope, { kind: 'unanswered', row: call.row })
    this.#options.onMiss(miss)
    this.#forget(call)
    await call.sink.send({ text: missAnswer(call.id, miss), final: true })
  }

  #sinkOf(call: LiveCall | undefined, elsewhere: boolean): ServerLink {
    const { standalone } = this.#options
    if (!call || call.answered) return standalone
    return elsewhere && standalone.isOpen ? standalone : call.sink
  }

  /** A redacted value that the client has to return is identified by its tag. */
  readonly #secretFor = (tag: string): string | undefined => {
    const { secrets } = this.#picker
    const known = secrets.get(tag)
    if (known !== undefined || !this.#options.play.saidTags.has(tag)) return known
    const standIn = JSON.stringify(`[REDACTED:${tag}]`)
    secrets.set(tag, standIn)
    return standIn
  }

  #forget(call: LiveCall): void {
    call.answered = true
    const key = idKey(call.id)
    if (this.#calls.get(key) === call) this.#calls.delete(key)
  }
}
