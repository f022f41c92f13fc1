import { createRecent, type Envelope } from '../model/index.js'
import { taskPoll, taskStatus } from './task-places.js'

/** Two hashes of what is asked for. */
export type RequestKey = readonly [number, number]

/** Tasks remembered; what refers to them comes soon after. */
const remembered = 100_000

const done: ReadonlySet<string | undefined> = new Set(['completed', 'failed', 'cancelled'])

/** Asks how a task is doing, or for what came of it: how often is a matter of time. */
export function asksForTask(method: string): boolean {
  return method === taskPoll || method === 'tasks/result'
}

/**
 * What makes two requests about tasks the same, in two runs that have other ids and other times: what began the task, and
 * of a poll how far it had come.
 */
export interface TaskRequests {
  /** An answer that may have begun a task; `key` of its request. */
  began(conversation: string | undefined, answer: Envelope, key: RequestKey): void
  /** The key of a request, which may be about a task. */
  keyOf(conversation: string | undefined, request: Envelope, key: RequestKey): RequestKey
}

export function createTaskRequests(): TaskRequests {
  const beginnings = createRecent<RequestKey>({ entries: remembered })
  const nameOf = (conversation: string | undefined, task: string): string => `${conversation ?? ''} ${task}`
  return {
    began(conversation, { createsTask, taskId }, key) {
      if (createsTask && taskId !== undefined) beginnings.set(nameOf(conversation, taskId), key)
    },
    keyOf(conversation, { method, taskId }, key) {
      if (taskId === undefined || !method?.startsWith('tasks/')) return key
      const beginning = beginnings.get(nameOf(conversation, taskId))
      return beginning ? [mixed(key[0], beginning[0]), mixed(key[1], beginning[1])] : key
    },
  }
}

/** The key of a poll that was answered so: working, waiting for input, or done in whatever way. */
export function keyOfPoll(key: RequestKey, answer: string): RequestKey {
  const status = taskStatus(answer)
  const step = done.has(status) ? 1 : status === 'working' ? 2 : 3
  return [mixed(key[0], step), mixed(key[1], step)]
}

function mixed(hash: number, other: number): number {
  return Math.imul(hash ^ other ^ (other >>> 15), 0x85ebca6b) ^ (hash >>> 13)
}
