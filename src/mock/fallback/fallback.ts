import type { Writable } from 'node:stream'
import { failureOf } from '../../compare/index.js'
import type { Envelope } from '../../model/index.js'
import { idKey, isFault, messagesOf, readMessages, type Message } from '../../wire/index.js'
import { reasonOf } from '../fault.js'
import type { ServerLink } from '../../link/index.js'
import type { Fallback } from './contract.js'
import { toLiveText } from '../live-text.js'
import { missCode } from '../miss.js'
import { noRow } from '../script.js'
import type { FallbackPlace } from '../stage.js'
import { createOutbox } from './outbox.js'
import { openServerLine, type ServerLine } from './server-line.js'

/** Observes messages between a client and the real server. */
export interface FallbackWitness {
  /** A message of the client matched the recording, in that row. */
  heard(row: number, text: string, envelope: Envelope): void
  /** @param replaces the recorded call that is sent again, or -1 */
  asked(text: string, envelope: Envelope, replaces: number): void
  /** The call with this id (exact JSON text) will get no response. */
  unanswered(id: string): void
  /** The real server's response to `initialize`; the client got the recorded one. */
  greeted(text: string, envelope: Envelope): void
  fromClient(text: string, envelope: Envelope): void
  fromServer(text: string, envelope: Envelope): void
}

export interface FallbackOptions extends FallbackPlace {
  readonly command: readonly string[]
  readonly errorOutput: Writable
  readonly notice: (line: string) => void
  readonly witness: FallbackWitness | undefined
  /** How long a server may take for `initialize` after its client's last message. @default 15000 */
  readonly greetingMs?: number
}

const silence = 'has not responded to initialize'

interface Pending {
  readonly id: string
  readonly token: string | undefined
  readonly sink: ServerLink
}

/** First id for requests of the server; must not collide with ids of the recorded server. */
const firstId = 2_000_000_000
/** Time after which a person should know that the server is slow: it may wait for a login. */
const patienceMs = 15_000
/** Time for a closing server to read its remaining input. */
const graceMs = 2_000
/** Characters that may wait for a server. Further calls are refused. */
const mostWaiting = 16 << 20

/**
 * A real server that responds to one client's calls. The first call starts it, and it gets the same `initialize`
 * as the recorded one.
 */
export function createFallback(options: FallbackOptions): Fallback {
  return new ServerFallback(options)
}

class ServerFallback {
  readonly #options: FallbackOptions
  readonly #command
  readonly #standalone
  readonly #notice
  readonly #witness
  readonly #greetingMs
  readonly #pending = new Map<string, Pending>()
  /** By the id that the client got: the server's own id. */
  readonly #questions = new Map<string, string>()
  #greeting: { readonly text: string; readonly id: string } | undefined
  #initialized: string | undefined
  #starting: Promise<ServerLine | undefined> | undefined
  #opening: ReturnType<typeof openServerLine> | undefined
  #greeted: (() => void) | undefined
  #isGreeted = false
  #gone: string | undefined
  #lastId = firstId
  readonly #outbox = createOutbox(async (text) => {
    const server = await this.#start()
    if (this.#gone === undefined) await server?.send(text)
  })

  constructor(options: FallbackOptions) {
    this.#options = options
    const { command, standalone, notice, witness, greetingMs = patienceMs } = options
    this.#command = command
    this.#standalone = standalone
    this.#notice = notice
    this.#witness = witness
    this.#greetingMs = greetingMs
  }

  greet(text: string, envelope: Envelope): void {
    this.#greeting = { text, id: envelope.id! }
  }

  ask(text: string, envelope: Envelope, sink: ServerLink, replaces: number): void {
    const id = envelope.id!
    if (this.#gone !== undefined) return this.#refuse(id, sink, this.#gone)
    if (this.#outbox.waiting > mostWaiting) return this.#refuse(id, sink, 'it has not read earlier requests')
    this.#pending.set(idKey(id), { id, token: envelope.progressToken, sink })
    this.#witness?.asked(text, envelope, replaces)
    this.#outbox.put(text)
  }

  heard(row: number, text: string, envelope: Envelope): void {
    this.#witness?.heard(row, text, envelope)
  }

  note(text: string, envelope: Envelope, row: number): void {
    if (row !== noRow) this.#witness?.heard(row, text, envelope)
    if (envelope.method === 'notifications/initialized') {
      this.#initialized = text
      // It is sent after the response to `initialize`.
      if (this.#greeting && !this.#isGreeted) return
    }
    if (!this.#starting || this.#gone !== undefined) return
    if (envelope.cancels !== undefined && !this.#pending.delete(idKey(envelope.cancels))) return
    if (row === noRow) this.#witness?.fromClient(text, envelope)
    this.#outbox.put(text)
  }

  reply(text: string, envelope: Envelope): boolean {
    const key = idKey(envelope.id ?? 'null')
    const id = this.#questions.get(key)
    if (id === undefined) return false
    this.#questions.delete(key)
    const own = toLiveText(text, [], { id })
    this.#witness?.fromClient(own, envelope)
    this.#outbox.put(own)
    return true
  }

  ready(): Promise<void> {
    return this.#outbox.ready()
  }

  settled(): Promise<void> {
    return this.#outbox.settled(this.#greetingMs)
  }

  async close(): Promise<void> {
    // A greeting is no longer awaited; messages on their way get a moment.
    if (!this.#greeted) await this.#outbox.settled(graceMs)
    const server = await this.#opening
    if (this.#greeted) this.#end(`it ${silence}`)
    if (server && !('error' in server)) await server.close()
    this.#gone ??= 'it was stopped'
    await this.#starting
  }

  #start(): Promise<ServerLine | undefined> {
    return (this.#starting ??= this.#begin())
  }

  async #begin(): Promise<ServerLine | undefined> {
    this.#opening = openServerLine(
      this.#command,
      this.#options.errorOutput,
      (line) => this.#takeSafely(line),
      (why) => this.#end(why),
    )
    const server = await this.#opening
    if ('error' in server) {
      this.#end(server.error)
      return undefined
    }
    if (this.#greeting) {
      const answered = new Promise<void>((resolve) => (this.#greeted = resolve))
      const late = setTimeout(
        () => this.#notice(`the fallback ${silence} yet; still waiting`),
        this.#greetingMs,
      )
      await server.send(this.#greeting.text)
      await answered
      clearTimeout(late)
      if (this.#gone !== undefined) return server
      this.#isGreeted = true
      if (this.#initialized !== undefined) await server.send(this.#initialized)
    }
    return server
  }

  #end(why: string): void {
    if (this.#gone !== undefined) return
    this.#gone = why
    if (this.#pending.size > 0 || this.#greeted) this.#notice(`no response from the fallback: ${why}`)
    this.#greeted?.()
    this.#greeted = undefined
    for (const { id, sink } of this.#pending.values()) {
      this.#witness?.unanswered(id)
      this.#refuse(id, sink, why)
    }
    this.#pending.clear()
  }

  #refuse(id: string, sink: ServerLink, why: string): void {
    const message = JSON.stringify(`wiretape mock: no response from the fallback: ${why}`)
    const text = `{"jsonrpc":"2.0","id":${id},"error":{"code":${missCode},"message":${message}}}`
    void sink.send({ text, final: true })
  }

  /** An error at one line must not end anything else. */
  #takeSafely(line: string): Promise<void> {
    return this.#take(line).catch((error: unknown) =>
      this.#notice(`a message from the fallback cannot be forwarded: ${reasonOf(error)}`),
    )
  }

  async #take(line: string): Promise<void> {
    const frame = readMessages(line)
    if (isFault(frame)) return
    for (const message of messagesOf(frame)) await this.#hear(message)
  }

  async #hear({ text, envelope }: Message): Promise<void> {
    if (envelope.kind === 'result' || envelope.kind === 'error') return this.#answer(text, envelope)
    this.#witness?.fromServer(text, envelope)
    const token = envelope.method === 'notifications/progress' ? envelope.progressToken : undefined
    const asker =
      token === undefined ? undefined : [...this.#pending.values()].find((one) => one.token === token)
    const sink = asker?.sink ?? [...this.#pending.values()].at(-1)?.sink ?? this.#standalone
    if (envelope.kind !== 'request' || envelope.id === undefined) return sink.send({ text })
    const id = String((this.#lastId += 1))
    this.#questions.set(idKey(id), envelope.id)
    return sink.send({ text: toLiveText(text, [], { id }) })
  }

  async #answer(text: string, envelope: Envelope): Promise<void> {
    const key = idKey(envelope.id ?? 'null')
    if (this.#greeted && this.#greeting && key === idKey(this.#greeting.id)) {
      const refused = envelope.kind === 'error' ? failureOf(text) : undefined
      if (refused !== undefined) return this.#end(`it refused initialize: ${refused}`)
      this.#witness?.greeted(text, envelope)
      this.#greeted()
      this.#greeted = undefined
      return
    }
    const asked = this.#pending.get(key)
    if (!asked) return
    this.#pending.delete(key)
    this.#witness?.fromServer(text, envelope)
    await asked.sink.send({ text, final: true })
  }
}
