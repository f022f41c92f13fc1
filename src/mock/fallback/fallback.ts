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

/** Sees what passes between a client and the real server. */
export interface FallbackWitness {
  /** The recording has this message of the client, in that row. */
  heard(row: number, text: string, envelope: Envelope): void
  /** @param replaces the recorded call that this one asks again, or -1 */
  asked(text: string, envelope: Envelope, replaces: number): void
  /** The call with this id (exact JSON text) gets no answer any more. */
  unanswered(id: string): void
  /** What the real server answered to `initialize`, which the recording has answered for the client. */
  greeted(text: string, envelope: Envelope): void
  fromClient(text: string, envelope: Envelope): void
  fromServer(text: string, envelope: Envelope): void
}

export interface FallbackOptions extends FallbackPlace {
  readonly command: readonly string[]
  readonly errorOutput: Writable
  readonly notice: (line: string) => void
  readonly witness: FallbackWitness | undefined
  /** How long a server may take for `initialize` when its client has said all. @default 15000 */
  readonly greetingMs?: number
}

const silence = 'has not answered initialize'

interface Pending {
  readonly id: string
  readonly token: string | undefined
  readonly sink: ServerLink
}

/** Ids of questions, which must not be those of the recorded server's. */
const firstId = 2_000_000_000
/** Of a server that a person should know about: it may wait for a login. */
const patienceMs = 15_000
/** Of one that is to end and has not read what is left for it. */
const graceMs = 2_000
/** Characters that wait for a server. Calls beyond them are refused. */
const mostWaiting = 16 << 20

/**
 * A real server that answers one client's calls. It is started by the first of them, and greeted as the client greeted
 * the recorded one.
 */
export function createFallback(options: FallbackOptions): Fallback {
  const { command, standalone, notice, witness, greetingMs = patienceMs } = options
  const pending = new Map<string, Pending>()
  /** By the id that the client was told: the server's own. */
  const questions = new Map<string, string>()
  let greeting: { readonly text: string; readonly id: string } | undefined
  let initialized: string | undefined
  let starting: Promise<ServerLine | undefined> | undefined
  let opening: ReturnType<typeof openServerLine> | undefined
  let greeted: (() => void) | undefined
  let isGreeted = false
  let gone: string | undefined
  let lastId = firstId
  const outbox = createOutbox(async (text) => {
    const server = await start()
    if (gone === undefined) await server?.send(text)
  })

  function start(): Promise<ServerLine | undefined> {
    return (starting ??= begin())
  }

  async function begin(): Promise<ServerLine | undefined> {
    opening = openServerLine(command, options.errorOutput, takeSafely, end)
    const server = await opening
    if ('error' in server) {
      end(server.error)
      return undefined
    }
    if (greeting) {
      const answered = new Promise<void>((resolve) => (greeted = resolve))
      const late = setTimeout(() => notice(`the fallback ${silence}, and is waited for`), greetingMs)
      await server.send(greeting.text)
      await answered
      clearTimeout(late)
      if (gone !== undefined) return server
      isGreeted = true
      if (initialized !== undefined) await server.send(initialized)
    }
    return server
  }

  function end(why: string): void {
    if (gone !== undefined) return
    gone = why
    if (pending.size > 0 || greeted) notice(`the fallback does not answer: ${why}`)
    greeted?.()
    greeted = undefined
    for (const { id, sink } of pending.values()) {
      witness?.unanswered(id)
      refuse(id, sink, why)
    }
    pending.clear()
  }

  function refuse(id: string, sink: ServerLink, why: string): void {
    const message = JSON.stringify(`wiretape mock: the fallback does not answer: ${why}`)
    const text = `{"jsonrpc":"2.0","id":${id},"error":{"code":${missCode},"message":${message}}}`
    void sink.send({ text, final: true })
  }

  /** What fails at one line ends nothing else. */
  function takeSafely(line: string): Promise<void> {
    return take(line).catch((error: unknown) =>
      notice(`what the fallback said cannot be passed on: ${reasonOf(error)}`),
    )
  }

  async function take(line: string): Promise<void> {
    const frame = readMessages(line)
    if (isFault(frame)) return
    for (const message of messagesOf(frame)) await hear(message)
  }

  async function hear({ text, envelope }: Message): Promise<void> {
    if (envelope.kind === 'result' || envelope.kind === 'error') return answer(text, envelope)
    witness?.fromServer(text, envelope)
    const token = envelope.method === 'notifications/progress' ? envelope.progressToken : undefined
    const asker = token === undefined ? undefined : [...pending.values()].find((one) => one.token === token)
    const sink = asker?.sink ?? [...pending.values()].at(-1)?.sink ?? standalone
    if (envelope.kind !== 'request' || envelope.id === undefined) return sink.send({ text })
    const id = String((lastId += 1))
    questions.set(idKey(id), envelope.id)
    return sink.send({ text: toLiveText(text, [], { id }) })
  }

  async function answer(text: string, envelope: Envelope): Promise<void> {
    const key = idKey(envelope.id ?? 'null')
    if (greeted && greeting && key === idKey(greeting.id)) {
      const refused = envelope.kind === 'error' ? failureOf(text) : undefined
      if (refused !== undefined) return end(`it refused initialize: ${refused}`)
      witness?.greeted(text, envelope)
      greeted()
      greeted = undefined
      return
    }
    const asked = pending.get(key)
    if (!asked) return
    pending.delete(key)
    witness?.fromServer(text, envelope)
    await asked.sink.send({ text, final: true })
  }

  return {
    greet: (text, envelope) => void (greeting = { text, id: envelope.id! }),
    ask(text, envelope, sink, replaces) {
      const id = envelope.id!
      if (gone !== undefined) return refuse(id, sink, gone)
      if (outbox.waiting > mostWaiting) return refuse(id, sink, 'it has not read what it was asked before')
      pending.set(idKey(id), { id, token: envelope.progressToken, sink })
      witness?.asked(text, envelope, replaces)
      outbox.put(text)
    },
    heard: (row, text, envelope) => witness?.heard(row, text, envelope),
    note(text, envelope, row) {
      if (row !== noRow) witness?.heard(row, text, envelope)
      if (envelope.method === 'notifications/initialized') {
        initialized = text
        // It is sent when the greeting was answered.
        if (greeting && !isGreeted) return
      }
      if (!starting || gone !== undefined) return
      if (envelope.cancels !== undefined && !pending.delete(idKey(envelope.cancels))) return
      if (row === noRow) witness?.fromClient(text, envelope)
      outbox.put(text)
    },
    reply(text, envelope) {
      const key = idKey(envelope.id ?? 'null')
      const id = questions.get(key)
      if (id === undefined) return false
      questions.delete(key)
      const own = toLiveText(text, [], { id })
      witness?.fromClient(own, envelope)
      outbox.put(own)
      return true
    },
    ready: () => outbox.ready(),
    settled: () => outbox.settled(greetingMs),
    async close() {
      // Nobody waits for a greeting now; what is on its way has a moment.
      if (!greeted) await outbox.settled(graceMs)
      const server = await opening
      if (greeted) end(`it ${silence}`)
      if (server && !('error' in server)) await server.close()
      gone ??= 'it was ended'
      await starting
    },
  }
}
