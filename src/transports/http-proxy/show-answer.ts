import type { Passing } from '../../wire/index.js'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { withoutContentCoding } from '../content-coding.js'
import type { Answer } from './answer.js'
import type { ExchangeHead, Gatekeeper } from './gatekeeper.js'
import type { HttpHappening, ArrivalTime } from './http-event.js'
import { joinAnswers } from './joined-answers.js'
import { collectBody, withoutHeader, type BodyReader, type WholeBody } from './whole-body.js'

/** The exchange of a response that is shown to the gatekeeper. */
export interface AnswerScene extends Pick<BodyReader, 'room' | 'mustWait'> {
  readonly head: ExchangeHead
  readonly response: ServerResponse
  /** Our own responses, which the client gets together with this one. */
  readonly extra: readonly string[]
  keeper(): Gatekeeper | undefined
  tell(happening: HttpHappening, moment: ArrivalTime): void
  isOver(): boolean
  sendHead(headers: string[]): void
  /** The whole response was sent to the client. */
  passed(): void
  /** Forwards the rest of the body as it arrives. */
  flowOn(): void
  answerOurselves(how: Exclude<Passing, { kind: 'forward' }>): void
  unseen(): void
}

/** Reads the whole response and shows it to the gatekeeper before anything is forwarded. */
export function showAnswer(came: IncomingMessage, ours: Answer, scene: AnswerScene): WholeBody {
  const { head, response, extra } = scene
  const decode = (bytes: Buffer): Buffer | undefined =>
    withoutContentCoding(bytes, came.headers['content-encoding'])

  function pass(bytes: Buffer, changed: boolean): void {
    if (scene.isOver()) return
    const plain = changed ? bytes : decode(bytes)
    const joined = joins(came, extra) && plain && joinAnswers(plain, ours.headers(), extra)
    if (joined) response.writeHead(200, joined.headers)
    else
      scene.sendHead(changed ? withoutHeader(ours.headers(bytes.length), 'content-encoding') : ours.headers())
    response.end(joined ? joined.body : bytes)
    scene.passed()
  }

  return collectBody(came, {
    room: scene.room,
    mustWait: (goOn) => scene.mustWait(goOn),
    chunk: (bytes, moment) => scene.tell({ kind: 'response-body', bytes }, moment),
    whole(bytes, moment) {
      const decoded = decode(bytes)
      if (!decoded) scene.unseen()
      const wants = decoded && scene.keeper()?.wants(head, 'answer')
      const passing = wants ? scene.keeper()?.answer(head, decoded) : undefined
      scene.tell({ kind: 'response-end' }, moment)
      if (!passing) return pass(bytes, false)
      void passing.then((how) => {
        if (scene.isOver()) return
        if (how.kind !== 'forward') return scene.answerOurselves(how)
        pass(how.body ? Buffer.from(how.body) : bytes, how.body !== undefined)
      })
    },
    passOn(chunks, why) {
      if (why !== undefined) scene.keeper()?.unseen(head, 'answer', why)
      scene.sendHead(ours.headers())
      for (const bytes of chunks) response.write(bytes)
      scene.flowOn()
    },
  })
}

/** Whether our own responses can be joined with this one. */
export function joins({ statusCode: status }: IncomingMessage, extra: readonly string[]): boolean {
  return extra.length > 0 && (status === 200 || status === 202)
}
