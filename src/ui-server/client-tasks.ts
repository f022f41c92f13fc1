import { randomUUID } from 'node:crypto'
import type { Envelope } from '../model/index.js'
import { JsonObject, kindAt, membersOf } from '../wire/index.js'
import type { PersonsAnswer } from './session-event.js'

/** Requests that a server may run as tasks, by MCP 2025-11-25. */
export const taskCapability =
  '"tasks":{"list":{},"cancel":{},"requests":{"sampling":{"createMessage":{}},"elicitation":{"create":{}}}}'

const ofTasks: ReadonlySet<string | undefined> = new Set(['sampling/createMessage', 'elicitation/create'])
/** Advice for servers that poll. */
const pollIntervalMs = 500
/** Older tasks that have ended are forgotten. */
const mostTasks = 1000
const invalidParams = -32602
const internalError = -32603

interface Task {
  status: 'working' | 'completed' | 'failed' | 'cancelled'
  readonly createdAt: string
  updatedAt: string
  /** Exact JSON text. */
  readonly ttl: string
  /** The response to `tasks/result`; undefined while the task runs. */
  outcome: PersonsAnswer | undefined
  /** Requests for the result, by their ids as exact JSON text. */
  readonly waiting: Map<string, Settle>
  /** Takes the question back. */
  withdraw(): void
}

type Settle = (answer: PersonsAnswer) => void

/** Whether a request of a server is to be answered by a task. */
export function asksForTask(text: string, { method }: Envelope): boolean {
  return ofTasks.has(method) && new JsonObject(text, 0).object('params')?.object('task') !== undefined
}

/** Tasks that a server of 2025-11-25 gave to its client: questions to a person whose answer it fetches later. */
export class ClientTasks {
  readonly #tasks = new Map<string, Task>()

  /**
   * Makes a task of a request, and responds with it.
   *
   * @param ask puts the question to a person; returns a function that takes it back
   */
  create(text: string, settle: Settle, ask: (settle: Settle) => () => void): void {
    const taskId = randomUUID()
    const createdAt = new Date().toISOString()
    const task: Task = {
      status: 'working',
      createdAt,
      updatedAt: createdAt,
      ttl: new JsonObject(text, 0).object('params')?.object('task')?.raw('ttl') ?? 'null',
      outcome: undefined,
      waiting: new Map(),
      withdraw: () => undefined,
    }
    this.#makeRoom()
    this.#tasks.set(taskId, task)
    settle({ result: `{"task":${toldTask(taskId, task)}}` })
    task.withdraw = ask((answer) =>
      end(task, 'result' in answer ? 'completed' : 'failed', relatedTo(taskId, answer)),
    )
  }

  /** Responds to a request about tasks. @returns whether it is one */
  respond(text: string, { method, id = 'null' }: Envelope, settle: Settle): boolean {
    if (method === 'tasks/list') {
      const all = [...this.#tasks].map(([taskId, task]) => toldTask(taskId, task))
      settle({ result: `{"tasks":[${all.join(',')}]}` })
      return true
    }
    if (method !== 'tasks/get' && method !== 'tasks/result' && method !== 'tasks/cancel') return false
    const taskId = new JsonObject(text, 0).object('params')?.string('taskId') ?? ''
    const task = this.#tasks.get(taskId)
    if (!task) settle(failure(invalidParams, 'no such task'))
    else if (method === 'tasks/get') settle({ result: toldTask(taskId, task) })
    else if (method === 'tasks/result') {
      if (task.outcome) settle(task.outcome)
      else task.waiting.set(id, settle)
    } else if (task.outcome) settle(failure(invalidParams, `the task has already ended: ${task.status}`))
    else {
      task.withdraw()
      end(task, 'cancelled', failure(internalError, 'the task was cancelled'))
      settle({ result: toldTask(taskId, task) })
    }
    return true
  }

  /** The server no longer waits for the response to its request. @param id exact JSON text */
  cancel(id: string | undefined): void {
    if (id !== undefined) for (const { waiting } of this.#tasks.values()) waiting.delete(id)
  }

  #makeRoom(): void {
    if (this.#tasks.size < mostTasks) return
    const [ended] = [...this.#tasks].find(([, { outcome }]) => outcome !== undefined) ?? []
    if (ended !== undefined) this.#tasks.delete(ended)
  }
}

function end(task: Task, status: Task['status'], outcome: PersonsAnswer): void {
  if (task.outcome) return
  task.status = status
  task.updatedAt = new Date().toISOString()
  task.outcome = outcome
  for (const settle of task.waiting.values()) settle(outcome)
  task.waiting.clear()
}

/** As exact JSON text. */
function toldTask(taskId: string, { status, createdAt, updatedAt, ttl, outcome }: Task): string {
  const why =
    outcome && 'error' in outcome && kindAt(outcome.error, 0) === 'object'
      ? new JsonObject(outcome.error, 0).raw('message')
      : undefined
  return (
    `{"taskId":"${taskId}","status":"${status}","createdAt":"${createdAt}","lastUpdatedAt":"${updatedAt}",` +
    `"ttl":${ttl},"pollInterval":${pollIntervalMs}${why === undefined ? '' : `,"statusMessage":${why}`}}`
  )
}

/** The answer with the mark that MCP wants in the result of a task. */
function relatedTo(taskId: string, answer: PersonsAnswer): PersonsAnswer {
  if (!('result' in answer) || kindAt(answer.result, 0) !== 'object') return answer
  const { result } = answer
  const mark = `"io.modelcontextprotocol/related-task":{"taskId":"${taskId}"}`
  const members = membersOf(result, 0)
  const meta = members.find(({ name }) => name === '_meta')
  const others = members.filter((one) => one !== meta).map((one) => result.slice(one.nameStart, one.end))
  const rest = meta && kindAt(result, meta.start) === 'object' ? membersOf(result, meta.start) : []
  const marks = [mark, ...rest.map((one) => result.slice(one.nameStart, one.end))]
  return { result: `{${[`"_meta":{${marks.join(',')}}`, ...others].join(',')}}` }
}

function failure(code: number, message: string): PersonsAnswer {
  return { error: JSON.stringify({ code, message }) }
}
