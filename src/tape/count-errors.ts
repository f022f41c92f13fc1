import { createRecent, detach, type Part, type TapeRecord } from '../model/index.js'

/** Injected requests, held responses to them, tasks and requests for their results that are remembered, each. */
const remembered = 1_024

/**
 * Counts JSON-RPC errors, failed tool results and failed tasks, as `isErrorAnswer` does for rows. Takes records in file order. A
 * response to an injected request is never forwarded, and counts when it is dropped.
 */
export function createErrorCounter(): (record: TapeRecord) => number {
  const injected = createRecent<true>({ entries: remembered })
  const held = createRecent<number>({ entries: remembered })
  const failedIn = createTaskErrors()
  const errorsIn = (parts: readonly Part[]): number =>
    parts.reduce((errors, part) => errors + failedIn(part), 0)
  return (record) => {
    switch (record.type) {
      case 'message': {
        if (record.injected) for (const { id } of record.parts) if (id !== undefined) injected.set(id, true)
        return errorsIn(record.parts)
      }
      case 'held': {
        const id = record.parts[0]?.id
        const own = record.parts.filter(({ correlatedId: to }) => to !== undefined && injected.get(to))
        if (id !== undefined && own.length > 0) held.set(id, errorsIn(own))
        return 0
      }
      case 'dropped':
        return held.get(record.id) ?? 0
      default:
        return 0
    }
  }
}

/** Whether a message is an error, as 0 or 1. The failure of a task counts once, whichever message reports it first. */
function createTaskErrors(): (part: Part) => number {
  const tasks = createRecent<'open' | 'failed'>({ entries: remembered })
  /** Tasks of open requests for a result. */
  const asked = createRecent<string>({ entries: remembered })

  function fail(task: string): number {
    if (tasks.get(task) === 'failed') return 0
    tasks.set(task, 'failed')
    return 1
  }

  return ({ id, correlatedId, envelope }) => {
    const { kind, method, taskId, taskStatus, taskFailed, createsTask, toolError } = envelope
    if (kind === 'error' || toolError) {
      const task = correlatedId === undefined ? undefined : asked.get(correlatedId)
      return task !== undefined && tasks.get(task) ? fail(task) : 1
    }
    if (taskId === undefined) return 0
    if (createsTask) tasks.set(detach(taskId), 'open')
    else if (method === 'tasks/result' && id !== undefined) asked.set(id, detach(taskId))
    const hasFailed = taskStatus === 'failed' || (taskStatus === 'completed' && taskFailed)
    return hasFailed && tasks.get(taskId) ? fail(detach(taskId)) : 0
  }
}
