import { createRecent } from '../model/index.js'
import type { Facts } from './finding.js'
import { at, isMap, type Json } from './json.js'
import type { Message } from './message.js'

/** Finds the result of each task: the result of the call that created it. */
export interface TaskResults<V> {
  /** @param answer the response that created the task, with a value of the caller */
  created(answer: Message, value: V): void
  /** Returns the value and the characters of the result if the message is the first to contain it. */
  take(
    message: Message,
  ): { readonly value: V; readonly answer: number; readonly characters: number } | undefined
}

/** Maximum number of open tasks remembered. */
const remembered = 8_192

export function createTaskResults<V>({ entries }: Facts): TaskResults<V> {
  /** Open tasks by the row of their call. */
  const open = createRecent<{ readonly value: V; readonly answer: number }, number>({ entries: remembered })
  return {
    created(answer, value) {
      if (answer.asked) open.set(answer.asked.row, { value, answer: answer.row })
    },
    take(message) {
      const about = message.isAnswer ? message.asked : message
      if (about === undefined || !isAboutTask(message.method)) return undefined
      const call = entries.linked(about.row)
      const found = open.get(call)
      const characters = found && charactersOf(message)
      if (!found || characters === undefined) return undefined
      open.delete(call)
      return { ...found, characters }
    },
  }
}

function isAboutTask(method: string): boolean {
  return method.startsWith('tasks/') || method === 'notifications/tasks'
}

/** 2025-11-25 has a request for the result. Since 2026-07-28, polls and notifications contain it. */
function charactersOf(message: Message): number | undefined {
  if (message.answers('tasks/result')) return message.part.end - message.part.start
  const state: Json | undefined = message.isAnswer ? message.result : message.params
  const result = at(state, 'result') ?? at(state, 'error')
  return isMap(result) ? JSON.stringify(result).length : undefined
}
