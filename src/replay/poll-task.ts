import { taskStatus } from '../compare/index.js'
import { findJsonValue, isFault, JsonObject, kindAt } from '../wire/index.js'

const defaultPollMs = 500
const [leastPollMs, mostPollMs] = [20, 5_000] as const

/** The recorded poll found the task in a state that the live one has not come to yet. */
export function worksStill(recorded: string, live: string): boolean {
  const then = taskStatus(recorded)
  return then !== undefined && then !== 'working' && taskStatus(live) === 'working'
}

/** How long the server wants a client to wait before it asks for a task again. */
export function pollMsOf(live: string): number {
  const found = findJsonValue(live)
  if (isFault(found) || kindAt(live, found.start) !== 'object') return defaultPollMs
  const result = new JsonObject(live, found.start).object('result')
  const told = [result, result?.object('task')].flatMap((task) => [
    task?.raw('pollInterval'),
    task?.raw('pollIntervalMs'),
  ])
  const ms = Number(told.find((raw) => raw !== undefined))
  return Number.isFinite(ms) ? Math.min(mostPollMs, Math.max(leastPollMs, ms)) : defaultPollMs
}
