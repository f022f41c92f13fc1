import { createLeftOut, type Plan } from './plan.js'
import { PlannedFrames } from './planned-frames.js'

/**
 * A plan without some messages of the client. Messages of the server caused by them become optional, and no
 * notification is awaited, as with a filter.
 *
 * @param left rows of the left-out messages
 */
export async function planWithout(plan: Plan, left: ReadonlySet<number>): Promise<Plan> {
  const frames = new PlannedFrames(plan.index)
  const causes = createLeftOut(plan.index)
  const questions = [...plan.questions]
  let next = 0

  function judgeQuestions(beforeRow: number): void {
    for (; next < questions.length && questions[next]!.row < beforeRow; next += 1) {
      const question = questions[next]!
      if (causes.causes(question.connection, question.row)) questions[next] = { ...question, optional: true }
    }
  }

  for (const frame of plan.frames) {
    judgeQuestions(frame.row)
    const record = await plan.read(frame.locator)
    causes.take(frame.connection, frame.row, record, (row) => !left.has(row))
    const parts = plan.frames
      .messagesOf(frame, record)
      .filter(({ row }) => !left.has(row))
      .map(({ part }) => part)
    if (parts.length === 0) continue
    const { row, connection } = frame
    frames.add(
      { row, connection, count: parts.length },
      parts.length < record.parts.length ? parts : undefined,
    )
  }
  judgeQuestions(Infinity)
  return { ...plan, frames, questions, notices: { at: () => undefined }, messages: frames.messages }
}
