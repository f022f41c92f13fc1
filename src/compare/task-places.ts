import { JsonObject, jsonObjectIn } from '../wire/index.js'

/** The method that polls a task, in both eras. */
export const taskPoll = 'tasks/get'

const defaultPollMs = 500
const [leastPollMs, mostPollMs] = [20, 5_000] as const

const failures: ReadonlySet<string> = new Set(['failed', 'cancelled'])

/** The task status in the response to a poll: `working`, `input_required`, `completed`, `failed`, `cancelled`. */
export function taskStatus(answer: string): string | undefined {
  const result = JsonObject.in(answer)?.object('result')
  return result?.string('status') ?? result?.object('task')?.string('status')
}

/**
 * JSON Pointers to parts that may differ between responses to one poll, since progress of a working task depends on
 * timing: the status message, or the whole response if the task is now completed. A failed task is a difference.
 */
export function passingPlaces(method: string, before: string, after: string): readonly string[] {
  if (method !== taskPoll || taskStatus(before) !== 'working') return []
  const now = taskStatus(after)
  if (now === undefined || failures.has(now)) return []
  return now === 'working' ? ['/result/statusMessage', '/result/task/statusMessage'] : ['/result']
}

/** How long the server wants a client to wait before the next poll of a task. */
export function pollMsOf(live: string): number {
  const found = jsonObjectIn(live)
  if (!found) return defaultPollMs
  const result = new JsonObject(live, found.start).object('result')
  const told = [result, result?.object('task')].flatMap((task) => [
    task?.raw('pollInterval'),
    task?.raw('pollIntervalMs'),
  ])
  const ms = Number(told.find((raw) => raw !== undefined))
  return Number.isFinite(ms) ? Math.min(mostPollMs, Math.max(leastPollMs, ms)) : defaultPollMs
}
