import type { Envelope } from '../model/index.js'
import type { CallOutcome, ClientRole, OpenServer } from '../replay/index.js'
import { elementsOf, JsonObject, kindAt, membersOf, readEnvelope } from '../wire/index.js'

/** Events for pages that show the session. */
export type SessionEvent =
  | {
      readonly type: 'session'
      readonly recording: string
      /** Exact text of the response to `initialize`; null for servers without it. */
      readonly greeting: string | null
      readonly roots: string
    }
  /** A request of the server, waiting for a person. */
  | { readonly type: 'question'; readonly question: string; readonly text: string }
  | { readonly type: 'settled'; readonly question: string }
  | { readonly type: 'notification'; readonly text: string }
  | { readonly type: 'ended'; readonly why: string }

export type AskOutcome = CallOutcome & { readonly latencyMs: number }

/** A person's response: exact JSON text of a result or error. */
export type PersonsAnswer = { readonly result: string } | { readonly error: string }

/** An MCP client controlled by a person. */
export interface ClientSession {
  readonly ended: string | undefined
  /** ID of the session's recording. */
  readonly recording: string
  /** Sends the current state as events, then all later events. @returns a function that unsubscribes */
  follow(take: (event: SessionEvent) => void): () => void
  /**
   * Sends a request. If the server or its task needs input first, a person is asked and the request is repeated.
   *
   * @param key for its cancellation
   * @param params exact JSON text of an object
   */
  ask(key: string, method: string, params: string): Promise<AskOutcome>
  cancel(key: string): void
  /** @returns why it is refused */
  answer(question: string, answer: PersonsAnswer): string | undefined
  /** @param roots exact JSON text of an array */
  setRoots(roots: string): Promise<void>
  close(): Promise<void>
}

export const capabilities =
  '{"roots":{"listChanged":true},"sampling":{},"elicitation":{"form":{},"url":{}},' +
  '"extensions":{"io.modelcontextprotocol/tasks":{}}}'

/** Concurrently waiting questions. */
const mostQuestions = 100
/** Characters of notifications kept for later pages. */
const keptNotifications = 2_000_000
const mostRounds = 20

interface Question {
  readonly text: string
  readonly envelope: Envelope
  settle(answer: PersonsAnswer): void
}

/**
 * Initializes a session with a server and is its client until closed.
 *
 * @param open initializes the session in this role
 */
export async function openSession(
  recording: () => Promise<string>,
  open: (role: ClientRole) => Promise<OpenServer | { readonly error: string }>,
): Promise<ClientSession | { readonly error: string }> {
  const listeners = new Set<(event: SessionEvent) => void>()
  const questions = new Map<string, Question>()
  const running = new Map<string, AbortController>()
  const notifications: string[] = []
  let keptLength = 0
  let roots = '[]'
  let ended: string | undefined
  let made = 0
  let server: OpenServer | undefined
  const early: (() => void)[] = []

  const tell = (event: SessionEvent): void => {
    for (const listener of listeners) listener(event)
  }
  const say = (text: string): void => {
    if (server) server.tell(text).catch(() => undefined)
    else early.push(() => say(text))
  }

  function wait(text: string, envelope: Envelope, settle: Question['settle']): string {
    made += 1
    const question = `q${made}`
    questions.set(question, { text, envelope, settle })
    tell({ type: 'question', question, text })
    return question
  }

  function drop(question: string): void {
    if (questions.delete(question)) tell({ type: 'settled', question })
  }

  const role: ClientRole = {
    capabilities,
    question(text, envelope) {
      const { id = 'null', method } = envelope
      const settle = (answer: PersonsAnswer): void => {
        const member = 'result' in answer ? `"result":${answer.result}` : `"error":${answer.error}`
        say(`{"jsonrpc":"2.0","id":${id},${member}}`)
      }
      if (method === 'ping') settle({ result: '{}' })
      else if (method === 'roots/list') settle({ result: `{"roots":${roots}}` })
      else if (questions.size >= mostQuestions)
        settle({ error: '{"code":-32603,"message":"too many requests are waiting for a person"}' })
      else wait(text, envelope, settle)
    },
    notification(text) {
      const { method } = readEnvelope(text, 0)
      if (method === 'notifications/cancelled') {
        const id = new JsonObject(text, 0).object('params')?.raw('requestId')
        for (const [question, { envelope }] of questions) if (envelope.id === id) drop(question)
      }
      notifications.push(text)
      keptLength += text.length
      while (keptLength > keptNotifications) keptLength -= notifications.shift()!.length
      tell({ type: 'notification', text })
    },
    ended(reason) {
      ended ??= reason
      for (const question of questions.keys()) drop(question)
      tell({ type: 'ended', why: reason })
    },
  }

  const opened = await open(role)
  if ('error' in opened) return opened
  server = opened
  const greeted = opened
  for (const send of early.splice(0)) send()
  const { greeting = null } = opened
  let name: string
  try {
    name = await recording()
  } catch (error) {
    await greeted.close()
    throw error
  }

  /** A person's input for a result that requires it. */
  async function inputFor(result: JsonObject, signal: AbortSignal): Promise<string | PersonsAnswer> {
    const wanted = result.raw('inputRequests') ?? '{}'
    const members = kindAt(wanted, 0) === 'object' ? membersOf(wanted, 0) : []
    const given: string[] = []
    for (const { name: key, start, end } of members.slice(0, mostQuestions)) {
      const text = `{"jsonrpc":"2.0","id":${JSON.stringify(key)},${wanted.slice(start + 1, end)}`
      const reply = await new Promise<PersonsAnswer>((settle) => {
        const envelope = readEnvelope(text, 0)
        if (envelope.method === 'roots/list') settle({ result: `{"roots":${roots}}` })
        else {
          const question = wait(text, envelope, settle)
          signal.addEventListener('abort', () => {
            drop(question)
            settle({ error: 'null' })
          })
        }
      })
      if ('error' in reply) return reply
      given.push(`${JSON.stringify(key)}:${reply.result}`)
    }
    return `"inputResponses":{${given.join(',')}}`
  }

  async function askUntilAnswered(method: string, params: string, signal: AbortSignal): Promise<CallOutcome> {
    let whole = params
    for (let round = 0; ; round += 1) {
      const outcome = await greeted.ask({ method, params: whole }, signal)
      if (!('answer' in outcome) || round >= mostRounds) return outcome
      const result = new JsonObject(outcome.answer, 0).object('result')
      const wants = result && wantsInput(result)
      if (!wants) return outcome
      const input = await inputFor(result, signal)
      if (typeof input !== 'string') return { error: 'a request of the server was refused' }
      if (wants === 'task') {
        const told = await greeted.ask({ method: 'tasks/update', params: withFirst(input, params) }, signal)
        if (!('answer' in told) || readEnvelope(told.answer, 0).kind === 'error') return told
      } else {
        const state = result.raw('requestState')
        whole = withFirst(state === undefined ? input : `${input},"requestState":${state}`, params)
      }
    }
  }

  return {
    get ended() {
      return ended
    },
    recording: name,
    follow(take) {
      take({ type: 'session', recording: name, greeting, roots })
      for (const text of notifications) take({ type: 'notification', text })
      for (const [question, { text }] of questions) take({ type: 'question', question, text })
      if (ended !== undefined) take({ type: 'ended', why: ended })
      listeners.add(take)
      return () => listeners.delete(take)
    },
    async ask(key, method, params) {
      const controller = new AbortController()
      running.set(key, controller)
      const startedAtMs = performance.now()
      try {
        const outcome = await askUntilAnswered(method, params, controller.signal)
        return { ...outcome, latencyMs: performance.now() - startedAtMs }
      } finally {
        running.delete(key)
      }
    },
    cancel: (key) => running.get(key)?.abort(),
    answer(question, answer) {
      const waiting = questions.get(question)
      if (!waiting) return 'the server is no longer waiting for this response'
      drop(question)
      waiting.settle(answer)
      return undefined
    },
    async setRoots(text) {
      if (kindAt(text, 0) !== 'array') return
      roots = `[${elementsOf(text, 0)
        .map(({ start, end }) => text.slice(start, end))
        .join(',')}]`
      if (!greeted.isModern)
        await greeted.tell('{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}')
    },
    close() {
      // Otherwise wiretape could not exit until the last of them timed out.
      for (const controller of running.values()) controller.abort()
      return greeted.close()
    },
  }
}

/** Whether a result, or the task in it, requires input first. Tasks of 2025-11-25 ask by requests instead. */
function wantsInput(result: JsonObject): 'result' | 'task' | undefined {
  if (result.string('resultType') === 'input_required') return 'result'
  const isWaiting = result.string('status') === 'input_required' && result.has('inputRequests')
  return isWaiting && result.has('taskId') ? 'task' : undefined
}

/** @param params exact JSON text of an object */
function withFirst(members: string, params: string): string {
  const rest = params.trimStart().slice(1)
  return `{${members}${rest.trimStart().startsWith('}') ? '' : ','}${rest}`
}
