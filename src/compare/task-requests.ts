import { createRecent, type Envelope } from '../model/index.js'
import { taskPoll, taskStatus } from './task-places.js'

/** Two hashes of a request's content. */
export type RequestKey = readonly [number, number]

/** Limit of remembered tasks; later requests refer to recent ones. */
const remembered = 100_000

const done: ReadonlySet<string | undefined> = new Set(['completed', 'failed', 'cancelled'])

/** Whether it polls a task or requests its result: the number of such requests depends on timing. */
export function asksForTask(method: string): boolean {
  return method === taskPoll || method === 'tasks/result'
}

/**
 * Matches requests about tasks across two runs with different ids and timing: by the request that created the task and,
 * for a poll, by the task's state.
 */
export interface TaskRequests {
  /** Takes a response that may have created a task; `key` of its request. */
  began(conversation: string | undefined, answer: Envelope, key: RequestKey): void
  /** The key of a request that may be about a task. */
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

/** The key of a poll with this response: working, waiting for input, or finished with any status. */
export function keyOfPoll(key: RequestKey, answer: string): RequestKey {
  const status = taskStatus(answer)
  const step = done.has(status) ? 1 : status === 'working' ? 2 : 3
  return [mixed(key[0], step), mixed(key[1], step)]
}

function mixed(hash: number, other: number): number {
  return Math.imul(hash ^ other ^ (other >>> 15), 0x85ebca6b) ^ (hash >>> 13)
}
