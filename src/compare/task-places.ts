import { findJsonValue, isFault, JsonObject, kindAt } from '../wire/index.js'

/** The method that asks how a task is doing, in both eras. */
export const taskPoll = 'tasks/get'

const failures: ReadonlySet<string> = new Set(['failed', 'cancelled'])

/** `working`, `input_required`, `completed`, `failed`, `cancelled`: what a poll says of its task. */
export function taskStatus(answer: string): string | undefined {
  const found = findJsonValue(answer)
  if (isFault(found) || kindAt(answer, found.start) !== 'object') return undefined
  const result = new JsonObject(answer, found.start).object('result')
  return result?.string('status') ?? result?.object('task')?.string('status')
}

/**
 * JSON Pointers to what the answers to one poll may differ in, since how far a working task has come is a matter of
 * time: the words for it, and all of the answer where the task is done by now. One that failed is another matter.
 */
export function passingPlaces(method: string, before: string, after: string): readonly string[] {
  if (method !== taskPoll || taskStatus(before) !== 'working') return []
  const now = taskStatus(after)
  if (now === undefined || failures.has(now)) return []
  return now === 'working' ? ['/result/statusMessage', '/result/task/statusMessage'] : ['/result']
}
