import type { EntryTable } from './entry-table.js'
import { isAnswer, type Envelope } from './envelope.js'
import { createRecent } from './recent.js'

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

/** Finds the outcome of each task, which is that of the call that created it. Takes rows in order, with their relations. */
export class TaskEnds<M> {
  readonly #entries: EntryTable
  readonly #ended: (call: number, row: number, message: M) => void
  /** By call. */
  readonly #tasks = createRecent<Task, number>({ entries: remembered })
  /** Open requests about these tasks. */
  readonly #asked = createRecent<{ readonly call: number; readonly method: string }, number>({
    entries: remembered,
  })
  #isUsed = false

  /** @param ended called with the row and the message that end the task of a call */
  constructor(entries: EntryTable, ended: (call: number, row: number, message: M) => void) {
    this.#entries = entries
    this.#ended = ended
  }

  /** @param envelope undefined for a message that reports no task */
  take(row: number, envelope: Envelope | undefined, message: M): void {
    if (envelope?.createsTask) this.#begin(row, envelope)
    else if (!this.#isUsed) return
    else if (!envelope || isAnswer(envelope)) this.#takeAnswer(row, envelope, message)
    else if (envelope.kind === 'notification') this.#report(this.#entries.linked(row), row, envelope, message)
    else if (envelope.kind === 'request' && envelope.method?.startsWith('tasks/')) {
      const call = this.#entries.linked(row)
      if (this.#tasks.get(call)) this.#asked.set(row, { call, method: envelope.method })
    }
  }

  #begin(row: number, { taskStatus = '', taskFailed }: Envelope): void {
    const call = this.#entries.peer(row)
    if (call < 0 || this.#entries.peer(call) !== row) return
    this.#isUsed = true
    const task: Task = { answer: row, outcome: undefined, isStopping: false }
    this.#tasks.set(call, task)
    this.#entries.setTask(row, Infinity, -1)
    this.#entries.mark(row, 'taskOpen')
    if (isOutcome(taskStatus)) this.#end(task, taskFailed ? 'failed' : taskStatus, row)
  }

  #end(task: Task, outcome: Outcome, row: number): void {
    const { answer } = task
    task.outcome = outcome
    this.#entries.setTask(answer, Math.max(0, this.#entries.us(row) - this.#entries.us(answer)), row)
    for (const flag of ['taskOpen', 'taskFailed', 'taskCancelled'] as const)
      if (this.#entries.has(answer, flag)) this.#entries.unmark(answer, flag)
    const flag = outcomes[outcome]
    if (flag) this.#entries.mark(answer, flag)
  }

  /** A status, as a message reports it. */
  #report(call: number, row: number, { taskStatus = '', taskFailed }: Envelope, message: M): void {
    const task = this.#tasks.get(call)
    if (!task || !isOutcome(taskStatus) || (task.outcome && !task.isStopping)) return
    task.isStopping = false
    this.#end(task, taskFailed ? 'failed' : taskStatus, row)
    this.#ended(call, row, message)
  }

  /** The response to `tasks/result` is that of the call. */
  #takeResult(call: number, row: number, message: M): void {
    const task = this.#tasks.get(call)
    if (!task) return
    const isError = this.#entries.kind(row) === 'error'
    const isFailure = isError || this.#entries.has(row, 'toolError')
    if (!task.outcome) {
      this.#end(task, isFailure ? 'failed' : 'completed', row)
      this.#ended(call, row, message)
    } else if (isFailure && (task.outcome === 'failed' || (task.outcome === 'completed' && !isError))) {
      // Some servers complete the task of a failed tool. The error of a completed task is another one: its result expired.
      task.outcome = 'failed'
      this.#entries.mark(task.answer, 'taskFailed')
      this.#entries.setTask(task.answer, this.#entries.taskUs(task.answer), row)
    }
    if (isFailure && task.outcome === 'failed') this.#entries.mark(row, 'repeated')
  }

  #takeAnswer(row: number, envelope: Envelope | undefined, message: M): void {
    const request = this.#asked.get(this.#entries.peer(row))
    if (!request) return
    this.#asked.delete(this.#entries.peer(row))
    const { call, method } = request
    if (method === 'tasks/result') return this.#takeResult(call, row, message)
    if (this.#entries.kind(row) === 'error') return
    if (envelope?.taskStatus !== undefined) return this.#report(call, row, envelope, message)
    const task = this.#tasks.get(call)
    if (method !== 'tasks/cancel' || !task || task.outcome) return
    // 2026-07-28: the response accepts the cancellation, and does not report the task.
    this.#end(task, 'cancelled', row)
    task.isStopping = true
    this.#ended(call, row, message)
  }
}

function isOutcome(status: string): status is Outcome {
  return Object.hasOwn(outcomes, status)
}
