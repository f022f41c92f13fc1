import { pollMsOf, taskPoll, taskStatus } from '../../src/compare/index.js'
import { JsonObject, readEnvelope } from '../../src/wire/index.js'
import type { Answer } from './session.js'

/** A task as the server last described it. */
export interface TaskTold {
  readonly id: string
  readonly status: string
  /** '' for none. */
  readonly message: string
}

/** How the client of a task reaches its server, and its user. */
export interface TaskClient {
  /** @param params exact JSON text of an object */
  send(method: string, params: string): Promise<Answer>
  told(task: TaskTold): void
  /** The user cancels. */
  readonly cancelled: AbortSignal
}

const endings: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled'])
/** Each poll is recorded: a server that wants more of them does not get them. */
const leastPollMs = 250

/**
 * The result of the task that a response created. A response that created none is returned unchanged.
 *
 * Tasks of 2025-11-25 have `tasks/result`, which also delivers the server's waiting requests. With the extension of
 * 2026-07-28, `tasks/get` contains the result.
 */
export async function resultOfTask(first: Answer, client: TaskClient): Promise<Answer> {
  const { answer: created } = first
  const made = created === undefined ? undefined : readEnvelope(created, 0)
  if (created === undefined || !made?.createsTask || made.taskId === undefined) return first
  const id = made.taskId
  const params = JSON.stringify({ taskId: id })
  const isExtension = resultIn(created)?.string('resultType') === 'task'
  const cancelled = aborted(client.cancelled)
  let early: Promise<Answer> | undefined
  let latest = created
  for (;;) {
    const status = taskStatus(latest) ?? 'working'
    client.told({ id, status, message: messageIn(latest) })
    if (endings.has(status))
      return isExtension ? endOf(latest) : (early ?? client.send('tasks/result', params))
    if (status === 'input_required' && !isExtension) early ??= client.send('tasks/result', params)
    const sooner = [cancelled, ...(early ? [early.then((end) => ({ end }))] : [])]
    const polled =
      (await Promise.race([wait(Math.max(leastPollMs, pollMsOf(latest))), ...sooner])) ??
      (await Promise.race([client.send(taskPoll, params), ...sooner]))
    if (polled === 'cancelled') return cancelTask(params, client)
    if ('end' in polled) return polled.end
    if (polled.answer === undefined || resultIn(polled.answer)?.string('status') === undefined) return polled
    latest = polled.answer
  }
}

async function cancelTask(params: string, client: TaskClient): Promise<Answer> {
  const { answer, error } = await client.send('tasks/cancel', params)
  const why = error ?? (answer === undefined ? undefined : refusalIn(answer))
  return { error: why === undefined ? 'the task was cancelled' : `the task was not cancelled: ${why}` }
}

/** The response that the call would have got without a task. */
function endOf(poll: string): Answer {
  const task = resultIn(poll)
  const [result, error] = [task?.raw('result'), task?.raw('error')]
  if (result !== undefined) return { answer: `{"result":${result}}` }
  return error === undefined ? { answer: poll } : { answer: `{"error":${error}}` }
}

function resultIn(answer: string): JsonObject | undefined {
  return new JsonObject(answer, 0).object('result')
}

function messageIn(answer: string): string {
  const result = resultIn(answer)
  return result?.string('statusMessage') ?? result?.object('task')?.string('statusMessage') ?? ''
}

function refusalIn(answer: string): string | undefined {
  return new JsonObject(answer, 0).object('error')?.string('message')
}

function wait(ms: number): Promise<undefined> {
  return new Promise((done) => setTimeout(() => done(undefined), ms))
}

function aborted(signal: AbortSignal): Promise<'cancelled'> {
  return new Promise((done) => {
    if (signal.aborted) done('cancelled')
    signal.addEventListener('abort', () => done('cancelled'))
  })
}
