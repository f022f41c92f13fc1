import type { EntryTable } from './entry-table.js'
import { isAnswer, type Envelope } from './envelope.js'
import { createRecent } from './recent.js'

/** Finds the outcome of each task, which is that of the call that created it. Takes rows in order, with their relations. */
export interface TaskEnds<M> {
  /** @param envelope undefined for a message that reports no task */
  take(row: number, envelope: Envelope | undefined, message: M): void
}

/** Tasks and requests about them that are remembered, each. */
const remembered = 8_192

/** Final states, and the flag of each. */
const outcomes = { completed: undefined, failed: 'taskFailed', cancelled: 'taskCancelled' } as const
type Outcome = keyof typeof outcomes

interface Task {
  /** The row that created it. */
  readonly answer: number
  outcome: Outcome | undefined
  /** The server accepted its cancellation; another outcome may follow. */
  isStopping: boolean
}

/** @param ended called with the row and the message that end the task of a call */
export function createTaskEnds<M>(
  entries: EntryTable,
  ended: (call: number, row: number, message: M) => void,
): TaskEnds<M> {
  /** By call. */
  const tasks = createRecent<Task, number>({ entries: remembered })
  /** Open requests about these tasks. */
  const asked = createRecent<{ readonly call: number; readonly method: string }, number>({
    entries: remembered,
  })
  let isUsed = false

  function begin(row: number, { taskStatus = '', taskFailed }: Envelope): void {
    const call = entries.peer(row)
    if (call < 0 || entries.peer(call) !== row) return
    isUsed = true
    const task: Task = { answer: row, outcome: undefined, isStopping: false }
    tasks.set(call, task)
    entries.setTask(row, Infinity, -1)
    entries.mark(row, 'taskOpen')
    if (isOutcome(taskStatus)) end(task, taskFailed ? 'failed' : taskStatus, row)
  }

  function end(task: Task, outcome: Outcome, row: number): void {
    const { answer } = task
    task.outcome = outcome
    entries.setTask(answer, Math.max(0, entries.us(row) - entries.us(answer)), row)
    for (const flag of ['taskOpen', 'taskFailed', 'taskCancelled'] as const)
      if (entries.has(answer, flag)) entries.unmark(answer, flag)
    const flag = outcomes[outcome]
    if (flag) entries.mark(answer, flag)
  }

  /** A status, as a message reports it. */
  function report(call: number, row: number, { taskStatus = '', taskFailed }: Envelope, message: M): void {
    const task = tasks.get(call)
    if (!task || !isOutcome(taskStatus) || (task.outcome && !task.isStopping)) return
    task.isStopping = false
    end(task, taskFailed ? 'failed' : taskStatus, row)
    ended(call, row, message)
  }

  /** The response to `tasks/result` is that of the call. */
  function takeResult(call: number, row: number, message: M): void {
    const task = tasks.get(call)
    if (!task) return
    const isError = entries.kind(row) === 'error'
    const isFailure = isError || entries.has(row, 'toolError')
    if (!task.outcome) {
      end(task, isFailure ? 'failed' : 'completed', row)
      ended(call, row, message)
    } else if (isFailure && (task.outcome === 'failed' || (task.outcome === 'completed' && !isError))) {
      // Some servers complete the task of a failed tool. The error of a completed task is another one: its result expired.
      task.outcome = 'failed'
      entries.mark(task.answer, 'taskFailed')
      entries.setTask(task.answer, entries.taskUs(task.answer), row)
    }
    if (isFailure && task.outcome === 'failed') entries.mark(row, 'repeated')
  }

  function takeAnswer(row: number, envelope: Envelope | undefined, message: M): void {
    const request = asked.get(entries.peer(row))
    if (!request) return
    asked.delete(entries.peer(row))
    const { call, method } = request
    if (method === 'tasks/result') return takeResult(call, row, message)
    if (entries.kind(row) === 'error') return
    if (envelope?.taskStatus !== undefined) return report(call, row, envelope, message)
    const task = tasks.get(call)
    if (method !== 'tasks/cancel' || !task || task.outcome) return
    // 2026-07-28: the response accepts the cancellation, and does not report the task.
    end(task, 'cancelled', row)
    task.isStopping = true
    ended(call, row, message)
  }

  return {
    take(row, envelope, message) {
      if (envelope?.createsTask) begin(row, envelope)
      else if (!isUsed) return
      else if (!envelope || isAnswer(envelope)) takeAnswer(row, envelope, message)
      else if (envelope.kind === 'notification') report(entries.linked(row), row, envelope, message)
      else if (envelope.kind === 'request' && envelope.method?.startsWith('tasks/')) {
        const call = entries.linked(row)
        if (tasks.get(call)) asked.set(row, { call, method: envelope.method })
      }
    },
  }
}

function isOutcome(status: string): status is Outcome {
  return Object.hasOwn(outcomes, status)
}
