import type { EntryTable } from './entry-table.js'
import { isAnswer, type Envelope } from './envelope.js'
import { createRecent } from './recent.js'

/** Finds the end of each task, which ends the call that created it. Takes rows in order, with their relations. */
export interface TaskEnds<M> {
  /** @param envelope undefined for a message that reports no task */
  take(row: number, envelope: Envelope | undefined, message: M): void
}

/** Tasks and requests about them that are remembered, each. */
const remembered = 8_192
const over: ReadonlySet<string | undefined> = new Set(['completed', 'failed', 'cancelled'])

/** @param ended called with the row and the message that end the task of a call */
export function createTaskEnds<M>(
  entries: EntryTable,
  ended: (call: number, row: number, message: M) => void,
): TaskEnds<M> {
  /** Responses that created a task, by call, until the task ends. */
  const open = createRecent<number, number>({ entries: remembered })
  /** Open requests about these tasks. */
  const asked = createRecent<{ readonly call: number; readonly isResult: boolean }, number>({
    entries: remembered,
  })
  let isUsed = false

  function end(call: number, row: number, message: M): void {
    const answer = open.get(call)
    if (answer === undefined) return
    open.delete(call)
    entries.setTask(answer, Math.max(0, entries.us(row) - entries.us(answer)))
    ended(call, row, message)
  }

  function takeAnswer(row: number, status: string | undefined, message: M): void {
    const request = asked.get(entries.peer(row))
    if (!request) return
    asked.delete(entries.peer(row))
    if (request.isResult || over.has(status)) end(request.call, row, message)
  }

  return {
    take(row, envelope, message) {
      if (envelope?.createsTask) {
        const call = entries.peer(row)
        if (call < 0 || entries.peer(call) !== row || over.has(envelope.taskStatus)) return
        isUsed = true
        open.set(call, row)
        entries.setTask(row, Infinity)
      } else if (!isUsed) return
      else if (!envelope || isAnswer(envelope)) takeAnswer(row, envelope?.taskStatus, message)
      else if (envelope.kind === 'notification') {
        if (over.has(envelope.taskStatus)) end(entries.linked(row), row, message)
      } else if (envelope.kind === 'request' && envelope.method?.startsWith('tasks/')) {
        const call = entries.linked(row)
        if (open.get(call) !== undefined)
          asked.set(row, { call, isResult: envelope.method === 'tasks/result' })
      }
    },
  }
}
