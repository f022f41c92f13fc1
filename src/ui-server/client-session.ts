import type { Envelope } from '../model/index.js'
import type { CallOutcome, ClientRole, OpenServer } from '../replay/index.js'
import { asksForTask, ClientTasks, taskCapability } from './client-tasks.js'
import { mostQuestions, Questions } from './questions.js'
import type { PersonsAnswer, SessionEvent } from './session-event.js'
import { elementsOf, JsonObject, kindAt, membersOf, readEnvelope } from '../wire/index.js'

export type AskOutcome = CallOutcome & { readonly latencyMs: number }

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

const capabilities =
  '"roots":{"listChanged":true},"sampling":{},"elicitation":{"form":{},"url":{}},' +
  '"extensions":{"io.modelcontextprotocol/tasks":{}}'

/** Characters of notifications kept for later pages. */
const keptNotifications = 2_000_000
const mostRounds = 20

/**
 * Initializes a session with a server and is its client until closed.
 *
 * @param open initializes the session in this role
 */
export async function openSession(
  recording: () => Promise<string>,
  open: (role: ClientRole) => Promise<OpenServer | { readonly error: string }>,
): Promise<ClientSession | { readonly error: string }> {
  const role = new PersonsRole()
  const server = await open(role.asClient())
  if ('error' in server) return server
  role.joined(server)
  try {
    return new PersonsSession(role, server, await recording())
  } catch (error) {
    await server.close()
    throw error
  }
}

/** Messages of the server to the client, and its requests to the person. */
class PersonsRole {
  readonly #listeners = new Set<(event: SessionEvent) => void>()
  readonly questions = new Questions((event) => this.#tell(event))
  readonly #tasks = new ClientTasks()
  readonly #notifications: string[] = []
  #keptLength = 0
  /** Exact JSON text of an array. */
  roots = '[]'
  #ended: string | undefined
  #server: OpenServer | undefined
  /** Responses to requests that the server made before its session was open. */
  readonly #early: string[] = []

  get ended(): string | undefined {
    return this.#ended
  }

  asClient(): ClientRole {
    return {
      capabilities: { legacy: `{${capabilities},${taskCapability}}`, modern: `{${capabilities}}` },
      question: (text, envelope) => this.#question(text, envelope),
      notification: (text) => this.#notification(text),
      ended: (reason) => this.#end(reason),
    }
  }

  joined(server: OpenServer): void {
    this.#server = server
    for (const text of this.#early.splice(0)) this.#say(text)
  }

  /** Sends the current state, then all later events. */
  follow(session: SessionEvent, take: (event: SessionEvent) => void): () => void {
    take(session)
    for (const text of this.#notifications) take({ type: 'notification', text })
    for (const { question, text } of this.questions.waiting()) take({ type: 'question', question, text })
    if (this.#ended !== undefined) take({ type: 'ended', why: this.#ended })
    this.#listeners.add(take)
    return () => this.#listeners.delete(take)
  }

  #tell(event: SessionEvent): void {
    for (const listener of this.#listeners) listener(event)
  }

  #say(text: string): void {
    if (this.#server) this.#server.tell(text).catch(() => undefined)
    else this.#early.push(text)
  }

  #question(text: string, envelope: Envelope): void {
    const { id = 'null', method } = envelope
    const settle = (answer: PersonsAnswer): void => {
      const member = 'result' in answer ? `"result":${answer.result}` : `"error":${answer.error}`
      this.#say(`{"jsonrpc":"2.0","id":${id},${member}}`)
    }
    if (method === 'ping') settle({ result: '{}' })
    else if (method === 'roots/list') settle({ result: `{"roots":${this.roots}}` })
    else if (this.#tasks.respond(text, envelope, settle)) return
    else if (this.questions.isFull)
      settle({ error: '{"code":-32603,"message":"too many requests are waiting for a person"}' })
    else if (asksForTask(text, envelope))
      this.#tasks.create(text, settle, (end) => this.#askLater(text, envelope, end))
    else this.questions.add(text, envelope, settle)
  }

  /** Asks for the result of a task, whose request has its response already. @returns takes the question back */
  #askLater(text: string, envelope: Envelope, settle: (answer: PersonsAnswer) => void): () => void {
    const { id: _, ...nameless } = envelope
    const question = this.questions.add(text, nameless, settle)
    return () => this.questions.drop(question)
  }

  #notification(text: string): void {
    const { method } = readEnvelope(text, 0)
    if (method === 'notifications/cancelled') {
      const id = new JsonObject(text, 0).object('params')?.raw('requestId')
      this.questions.cancel(id)
      this.#tasks.cancel(id)
    }
    this.#notifications.push(text)
    this.#keptLength += text.length
    while (this.#keptLength > keptNotifications) this.#keptLength -= this.#notifications.shift()!.length
    this.#tell({ type: 'notification', text })
  }

  #end(reason: string): void {
    this.#ended ??= reason
    this.questions.dropAll()
    this.#tell({ type: 'ended', why: reason })
  }
}

class PersonsSession implements ClientSession {
  readonly #role: PersonsRole
  readonly #server: OpenServer
  readonly recording: string
  readonly #running = new Map<string, AbortController>()

  constructor(role: PersonsRole, server: OpenServer, recording: string) {
    this.#role = role
    this.#server = server
    this.recording = recording
  }

  get ended(): string | undefined {
    return this.#role.ended
  }

  follow(take: (event: SessionEvent) => void): () => void {
    const { recording } = this
    const { greeting = null } = this.#server
    return this.#role.follow({ type: 'session', recording, greeting, roots: this.#role.roots }, take)
  }

  async ask(key: string, method: string, params: string): Promise<AskOutcome> {
    const controller = new AbortController()
    this.#running.set(key, controller)
    const startedAtMs = performance.now()
    try {
      const outcome = await this.#askUntilAnswered(method, params, controller.signal)
      return { ...outcome, latencyMs: performance.now() - startedAtMs }
    } finally {
      this.#running.delete(key)
    }
  }

  cancel(key: string): void {
    this.#running.get(key)?.abort()
  }

  answer(question: string, answer: PersonsAnswer): string | undefined {
    return this.#role.questions.answer(question, answer)
  }

  async setRoots(text: string): Promise<void> {
    if (kindAt(text, 0) !== 'array') return
    this.#role.roots = `[${elementsOf(text, 0)
      .map(({ start, end }) => text.slice(start, end))
      .join(',')}]`
    if (!this.#server.isModern)
      await this.#server.tell('{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}')
  }

  close(): Promise<void> {
    // Otherwise wiretape could not exit until the last of them timed out.
    for (const controller of this.#running.values()) controller.abort()
    return this.#server.close()
  }

  async #askUntilAnswered(method: string, params: string, signal: AbortSignal): Promise<CallOutcome> {
    let whole = params
    for (let round = 0; ; round += 1) {
      const outcome = await this.#server.ask({ method, params: whole }, signal)
      if (!('answer' in outcome) || round >= mostRounds) return outcome
      const result = new JsonObject(outcome.answer, 0).object('result')
      const wants = result && wantsInput(result)
      if (!wants) return outcome
      const input = await this.#inputFor(result, signal)
      if (typeof input !== 'string') return { error: 'a request of the server was refused' }
      if (wants === 'task') {
        const update = { method: 'tasks/update', params: withFirst(input, params) }
        const told = await this.#server.ask(update, signal)
        if (!('answer' in told) || readEnvelope(told.answer, 0).kind === 'error') return told
      } else {
        const state = result.raw('requestState')
        whole = withFirst(state === undefined ? input : `${input},"requestState":${state}`, params)
      }
    }
  }

  /** A person's input for a result that requires it. */
  async #inputFor(result: JsonObject, signal: AbortSignal): Promise<string | PersonsAnswer> {
    const wanted = result.raw('inputRequests') ?? '{}'
    const members = kindAt(wanted, 0) === 'object' ? membersOf(wanted, 0) : []
    const given: string[] = []
    for (const { name: key, start, end } of members.slice(0, mostQuestions)) {
      const text = `{"jsonrpc":"2.0","id":${JSON.stringify(key)},${wanted.slice(start + 1, end)}`
      const reply = await this.#personsAnswer(text, signal)
      if ('error' in reply) return reply
      given.push(`${JSON.stringify(key)}:${reply.result}`)
    }
    return `"inputResponses":{${given.join(',')}}`
  }

  #personsAnswer(text: string, signal: AbortSignal): Promise<PersonsAnswer> {
    const { questions, roots } = this.#role
    return new Promise((settle) => {
      const envelope = readEnvelope(text, 0)
      if (envelope.method === 'roots/list') return settle({ result: `{"roots":${roots}}` })
      const question = questions.add(text, envelope, settle)
      signal.addEventListener('abort', () => {
        questions.drop(question)
        settle({ error: 'null' })
      })
    })
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
