import { taskStatus } from '../compare/index.js'
import { findJsonValue, isFault, JsonObject, kindAt } from '../wire/index.js'

const defaultPollMs = 500
const [leastPollMs, mostPollMs] = [20, 5_000] as const

/** The live task is still working, while the recorded poll found it in a later state. */
export function worksStill(recorded: string, live: string): boolean {
  const then = taskStatus(recorded)
  return then !== undefined && then !== 'working' && taskStatus(live) === 'working'
}

/** How long the server wants a client to wait before the next poll of a task. */
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
