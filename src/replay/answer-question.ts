import {
  compareQuestions,
  requestHashes,
  type AnswerText,
  type CompareSettings,
  type ExchangeComparison,
} from '../compare/index.js'
import type { Envelope } from '../model/index.js'
import { jsonIn, memberOf, membersOf, spliceText } from '../wire/index.js'
import type { Plan, PlannedQuestion } from './plan.js'

/** Matches live requests of the server with recorded ones. */
export interface QuestionPicker {
  /** Takes the recorded request with the same content, else the first with the same method. */
  pick(text: string, method: string): PlannedQuestion | undefined
  /** True while a request that the client answered before that row may still come. */
  isExpected(beforeRow: number): boolean
  /** Stops waiting for requests that the client answered before that row. */
  giveUp(beforeRow: number): void
  /** Recorded requests that the server did not make. */
  left(): readonly PlannedQuestion[]
}

export function createQuestionPicker(plan: Plan, connection: string): QuestionPicker {
  const left = plan.questions.filter((question) => question.connection === connection)
  const givenUp = new Set<PlannedQuestion>()
  const answeredBefore = (row: number): PlannedQuestion[] =>
    left.filter(
      (question) =>
        !question.optional && question.answerRow >= 0 && question.answerRow < row && !givenUp.has(question),
    )
  return {
    pick(text, method) {
      const [first, second] = requestHashes(text, method)
      const sameMethod = left.filter((question) => question.method === method)
      const same = sameMethod.find(({ row }) => {
        const key = plan.index.key(row)
        return key[0] === first && key[1] === second
      })
      const question = same ?? sameMethod[0]
      if (question) left.splice(left.indexOf(question), 1)
      return question
    },
    isExpected: (row) => left.length > 0 && answeredBefore(row).length > 0,
    giveUp(row) {
      if (left.length > 0) for (const question of answeredBefore(row)) givenUp.add(question)
    },
    left: () => left.filter(({ optional }) => !optional),
  }
}

/** A recorded response under the id of the live request. */
export function withId(text: string, id: string): string {
  const found = jsonIn(text)
  if (!found) return text
  const member = memberOf(membersOf(text, found.start), 'id')
  return member ? spliceText(text, [{ start: member.start, end: member.end, text: id }]) : text
}

/** A request of the server as recorded. */
export interface RecordedQuestion extends AnswerText {
  readonly seq: number
}

/** Compares a recorded with a live request of the server; undefined where there was none. */
export function compareQuestion(
  before: RecordedQuestion | undefined,
  after: string | undefined,
  { method = '', subject }: Envelope,
  settings: CompareSettings,
): ExchangeComparison {
  const [old, now] = [before && paramsOf(before.text), after === undefined ? undefined : paramsOf(after)]
  const shown = old ?? now
  const base = {
    method,
    ...(subject !== undefined && { name: subject }),
    direction: 'server_to_client' as const,
    ...(before && { before: { seq: before.seq } }),
    more: 0,
    schemaFaults: [],
  }
  const params = shown === undefined ? {} : { params: shown }
  if (!before || after === undefined)
    return { verdict: before ? 'missing' : 'new', ...base, ...params, differences: [] }
  const asked = { method, name: subject }
  const { differences, more } = compareQuestions(before, { text: after }, asked, settings)
  if (differences.length === 0) return { verdict: 'same', ...base, differences }
  return { ...base, verdict: 'changed', ...params, differences, more }
}

function paramsOf(text: string): string | undefined {
  const found = jsonIn(text)
  const member = found && memberOf(membersOf(text, found.start), 'params')
  return member && text.slice(member.start, member.end)
}
