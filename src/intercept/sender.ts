import { randomUUID } from 'node:crypto'
import type { Direction } from '../model/index.js'
import { requestKey } from './exchange-key.js'
import type { Expectation, ExpectedProgress } from './expected-answers.js'
import { GateFault } from './fault.js'
import { readTyped, withId, withProgressToken } from './typed-text.js'
import type { GatedWire, Injection } from './wire.js'
import { readFrame, type FrameText } from '../wire/index.js'

/** Longest wait for the response to an injected request, or for its next progress. */
const answerWithinMs = 60_000

/** Limit of injected messages under way: all traffic is matched against each. */
const mostOpen = 256

/** The response may still arrive. */
class TooLate extends GateFault {}

/** The part of the gate that the sender uses. */
export interface SenderScene {
  /** Undefined before the transport is connected, and after it has closed. */
  wire(): GatedWire | undefined
  /** Passes the response to the request with this key to `take` only. */
  expect(key: string, take: (text: string) => void, progress?: ExpectedProgress): Expectation
  /** The set of expected responses changed. */
  changed(): void
  readonly marker: string
}

/** Sends injected messages, and waits for their responses. */
export class Sender {
  readonly #scene: SenderScene
  /** Random prefix that makes our ids unique. */
  readonly #run = randomUUID().slice(0, 8)
  #count = 0
  /** Messages under way. */
  #open = 0
  /** Ends the wait for a response; by callback, with the key of the request. */
  readonly #waits = new Map<(why: GateFault) => void, string>()

  constructor(scene: SenderScene) {
    this.#scene = scene
  }

  /** The session is over: pending responses can no longer arrive. */
  close(): void {
    const why = new GateFault('no-answer', 'the session ended before the response')
    for (const giveUp of this.#waits.keys()) giveUp(why)
  }

  /**
   * Sends a message. Resolves once it is sent or, with `keepAnswer`, once its response has arrived.
   *
   * @throws GateFault
   */
  async inject(
    direction: Direction,
    text: string,
    options: { readonly conversation?: string | undefined; readonly keepAnswer: boolean },
  ): Promise<{ readonly message: string; readonly answer?: string; readonly latencyMs?: number }> {
    return this.#send(direction, readTyped(text, this.#scene.marker), options)
  }

  /**
   * Sends a request again, with `requestId` as its id and progress token, or with a new id and no progress token.
   *
   * @param options `like`: the request as it was recorded
   * @throws GateFault
   */
  async replay(
    direction: Direction,
    text: string,
    options: {
      readonly conversation: string | undefined
      readonly like?: Injection['like']
      readonly requestId?: string | undefined
    },
  ): Promise<{
    readonly message: string
    readonly sent: string
    readonly answer?: string
    readonly latencyMs?: number
  }> {
    const frame = readTyped(text, this.#scene.marker)
    const { requestId, ...place } = options
    const id = JSON.stringify(requestId ?? `wiretape-${this.#run}-${++this.#count}`)
    const sent = withProgressToken(withId(frame, id), requestId === undefined ? undefined : id)
    const result = await this.#send(direction, readFrame(sent)!, { ...place, keepAnswer: true })
    return { ...result, sent }
  }

  async #send(
    direction: Direction,
    frame: FrameText,
    {
      conversation,
      keepAnswer,
      like,
    }: {
      readonly conversation?: string | undefined
      readonly keepAnswer: boolean
      readonly like?: Injection['like']
    },
  ): Promise<{ readonly message: string; readonly answer?: string; readonly latencyMs?: number }> {
    const wire = this.#scene.wire()
    if (!wire) throw new GateFault('no-peer', 'the receiver is not connected yet')
    const place = { direction, ...(conversation !== undefined && { conversation }) }
    const talk = wire.conversationFor(place)
    if (talk === undefined) throw new GateFault('no-peer', 'no such conversation')
    const id = randomUUID()
    const { kind, id: requestId, progressToken, cancels } = frame.parts[0]!.envelope
    const wantsAnswer = keepAnswer && !frame.batch && kind === 'request' && requestId !== undefined
    const sentAtMs = performance.now()
    let expected: ({ readonly answer: Promise<string> } & Expectation) | undefined
    const key = requestId === undefined ? '' : requestKey(talk, direction, requestId)
    let progressed = (): void => undefined
    const token = progressToken === undefined ? undefined : requestKey(talk, direction, progressToken)
    if (wantsAnswer)
      expected = this.#expect(key, token === undefined ? undefined : { key: token, made: () => progressed() })
    let going: ReturnType<GatedWire['inject']>
    try {
      going = wire.inject({
        id,
        text: frame.text,
        ...place,
        conversation: talk,
        ...(like && { like }),
      })
    } catch (error) {
      expected?.cancel()
      throw error
    }
    if (cancels !== undefined) this.#cancelled(requestKey(talk, direction, cancels))
    if (!wantsAnswer) return { message: id }
    const { answer: direct, failure } = going
    if (direct) expected!.cancel()
    try {
      const { waiting, again } = this.#within(
        key,
        direct ?? (failure ? Promise.race([expected!.answer, failure]) : expected!.answer),
      )
      progressed = again
      const answer = await waiting
      return { message: id, answer, latencyMs: Math.round((performance.now() - sentAtMs) * 1000) / 1000 }
    } catch (error) {
      if (!direct && error instanceof TooLate) expected!.abandon()
      throw error
    } finally {
      expected!.cancel()
      this.#scene.changed()
    }
  }

  /**
   * Reserves a slot for a message. Call it before any other work, and release the slot at the end.
   *
   * @throws GateFault `busy`
   */
  reserve(): () => void {
    if (this.#open >= mostOpen)
      throw new GateFault(
        'busy',
        `${mostOpen} injected requests are waiting for responses`,
        'wait for some responses first',
      )
    this.#open += 1
    let isOpen = true
    return () => {
      if (isOpen) this.#open -= 1
      isOpen = false
    }
  }

  #expect(
    key: string,
    progress: ExpectedProgress | undefined,
  ): { readonly answer: Promise<string> } & Expectation {
    let resolve: (text: string) => void = () => undefined
    const answer = new Promise<string>((done) => (resolve = done))
    const expected = this.#scene.expect(key, resolve, progress)
    this.#scene.changed()
    return { answer, ...expected }
  }

  /** Stops waiting for the response to a cancelled request. */
  #cancelled(key: string): void {
    const why = new TooLate('no-answer', 'it was cancelled')
    for (const [giveUp, request] of this.#waits) if (request === key) giveUp(why)
  }

  /** @returns `again` restarts the timer */
  #within(
    key: string,
    answer: Promise<string>,
  ): { readonly waiting: Promise<string>; readonly again: () => void } {
    let timer: NodeJS.Timeout
    const waiting = new Promise<string>((resolve, reject) => {
      const giveUp = (why: unknown): void => {
        over()
        reject(why)
      }
      const late = new TooLate('no-answer', `no response within ${answerWithinMs / 1000} s`)
      timer = setTimeout(() => giveUp(late), answerWithinMs)
      const over = (): void => {
        clearTimeout(timer)
        this.#waits.delete(giveUp)
      }
      this.#waits.set(giveUp, key)
      answer.then((value) => {
        over()
        resolve(value)
      }, giveUp)
    })
    return { waiting, again: () => void timer.refresh() }
  }
}
