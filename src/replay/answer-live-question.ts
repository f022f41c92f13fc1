import type { ExchangeComparison } from '../compare/index.js'
import type { Envelope } from '../model/index.js'
import { compareQuestion, withId, type QuestionPicker } from './answer-question.js'
import { defaultAnswer } from './default-answer.js'
import { readEnvelope } from '../wire/index.js'
import { clientFrame } from './client-frame.js'
import type { LiveConnection } from './live-connection.js'
import type { LiveValues } from './live-values.js'
import type { Finished, OrderedOutcomes } from './ordered-outcomes.js'
import type { Plan } from './plan.js'
import type { PlannedMessage } from './planned-frames.js'
import type { ReadAhead } from './read-ahead.js'
import type { RunOptions } from './run-options.js'

/** Everything needed to give the recorded response to a request of the server. */
export interface QuestionContext {
  readonly plan: Plan
  readonly options: RunOptions
  readonly values: LiveValues
  readonly outcomes: OrderedOutcomes
  readonly ahead: ReadAhead
  /** Takes the comparison with the recorded request and, if both exist, the live text under the recorded id. */
  readonly tell: (comparison: ExchangeComparison, text?: string) => void
  /** The server refused the recorded response. */
  readonly refused: (message: PlannedMessage, finished: Finished) => void
  /** The recorded response in this row was sent. */
  readonly answered: (row: number) => void
  /** The recording has no response, which counts as a failure. */
  readonly failed: () => void
}

/** Responds to a request of the server as the recorded client did. */
export async function answerLiveQuestion(
  { plan, options, values, outcomes, ahead, tell, refused, answered, failed }: QuestionContext,
  { live, picker }: { readonly live: LiveConnection; readonly picker: QuestionPicker },
  text: string,
  envelope: Envelope,
): Promise<void> {
  const { method = '', id = 'null' } = envelope
  const { settings, unanswered } = options
  const question = picker.pick(text, method)
  if (!question) {
    if (method !== 'ping') {
      if (unanswered === 'fail') failed()
      const notes = ['the recording has no such server request']
      tell({ ...compareQuestion(undefined, text, envelope, settings), notes })
    }
    const answer = defaultAnswer(envelope, unanswered)
    return live.send(clientFrame(answer, [answer]))
  }
  const asked = await ahead.said(question.row)
  values.learn(asked.text, asked.marks, text)
  const seq = plan.index.entries.seq(question.row)
  const redacted = asked.marks.map(({ at }) => at)
  const compared = compareQuestion({ text: asked.text, redacted, seq }, text, envelope, settings)
  tell(compared, withId(text, readEnvelope(asked.text, 0).id ?? id))
  if (question.answerRow < 0) return
  const answer = await ahead.said(question.answerRow)
  const liveText = values.apply(answer.text, answer.marks)
  const sent = withId(liveText.text, id)
  const { replaced, kept } = liveText
  const message = plan.frames.answerIn(question.answerRow, answer.record)
  const frame = clientFrame(sent, [sent])
  await live.send(frame)
  const refusal = live.refusalOf(frame)
  const finished = { original: answer.text, sent, kept, replaced }
  if (message && refusal === undefined) outcomes.finish(message, { ...finished, status: 'sent' })
  else if (message)
    refused(
      { ...message, method: `answer to ${method}` },
      { ...finished, status: 'failed', error: `Write failed: ${refusal}` },
    )
  answered(question.answerRow)
}
