import { randomUUID } from 'node:crypto'
import { isAnswer } from '../../model/index.js'
import { idKey, failureText, messagesIn, type Message, withIds } from '../../wire/index.js'
import type { ServerExit, StartServer, Watchdog } from '../../transports/index.js'
import type { AnswerSink } from '../server/answer-sink.js'
import type { EventStream } from '../server/event-stream.js'
import { startStdioServer, type StdioServer, type StdioServerHandlers } from './stdio-server.js'
import type { Utf8Watch } from '../utf8-watch.js'

/** Who speaks to a server: an HTTP session, or a client of the modern era, which has none. */
export interface Party {
  /** Its own stream, which may be waiting for a connection; a client of the modern era has none. */
  readonly stream: EventStream | undefined
}

/** One server process, and the requests that wait for it. */
export interface Talk {
  readonly parties: Set<Party>
  /** The process has ended. */
  readonly gone: boolean
  /** Nothing is waited for. */
  readonly idle: boolean
  /** Sends a request; its answer, and what belongs to it, goes to `sink`. @returns cancels it */
  request(message: Message, sink: AnswerSink, party: Party): Promise<{ cancel(): void }>
  /** Sends a notification or an answer. */
  tell(message: Message, party: Party): Promise<void>
  /** A client does not take what is for it, or takes it again. */
  hold(party: Party, wait: boolean): void
  stop(): Promise<void>
}

/** No message; an answer to no request; something for a client that is not there. */
export type Stray = 'noise' | 'answer' | 'unheard'

export interface TalkOptions {
  readonly command: readonly string[]
  readonly start: StartServer
  /** Clients that know nothing of one another share the process: their ids are told apart. */
  readonly shared: boolean
  /** Ends the process, with all that it started, should we be killed. */
  readonly watchdog?: Watchdog
  readonly watch: Utf8Watch
  onErrors(chunk: Buffer): void
  /** A message of the server, as it said it. */
  onMessage(message: Message): void
  /** What it said that is passed on to nobody, with line ends. @param why undefined where that is usual */
  onStray(bytes: Buffer, why: Stray | undefined): void
  /** It asked one of several clients that it may mean. */
  onGuess(): void
  /** The process is gone; nobody may use the talk any more. @param why undefined when we ended it */
  onExit(why: string | undefined): void
}

/** Requests of a server that may be cancelled. */
const mostAsked = 1_000
/** Cancelled requests whose answers may still come. */
const mostLeft = 1_000

interface Pending {
  /** Exact texts of the client's own id and progress token. */
  readonly id: string
  readonly token: string | undefined
  /** The server's. */
  readonly sentId: string
  /** The server knows it by another id than its client. */
  readonly renamed: boolean
  readonly sink: AnswerSink
  readonly party: Party
  /** Its client does not wait for it any more. An answer that comes all the same is passed on. */
  cancelled: boolean
}

/** @returns why the server could not be started, as a sentence */
export async function startTalk(options: TalkOptions): Promise<Talk | string> {
  const { shared } = options
  const pending = new Map<string, Pending>()
  const tokens = new Map<string, Pending>()
  const parties = new Set<Party>()
  /** Who was asked by the server, by the id of its request. */
  const asked = new Map<string, Party>()
  const run = randomUUID().slice(0, 8)
  let count = 0
  let lastParty: Party | undefined
  /** Those who do not read, with the count of their streams. */
  const slow = new Map<Party, number>()
  const left = new Map<string, Pending>()
  let held = false
  let goneWhy: string | undefined
  let stopped = false

  const handlers: StdioServerHandlers = {
    watch: options.watch,
    onMessage(message) {
      options.onMessage(message)
      if (isAnswer(message.envelope)) answered(message)
      else said(message)
    },
    onErrors: (chunk) => options.onErrors(chunk),
    onNoise: (bytes) => options.onStray(bytes, /^\s*$/.test(bytes.toString('latin1')) ? undefined : 'noise'),
    onExit: gone,
  }
  const started = await startStdioServer(options.command, handlers, options.start, options.watchdog)
  if ('error' in started) return started.error
  const server: StdioServer = started

  function answered({ text, envelope }: Message): void {
    const one = envelope.id === undefined ? undefined : pending.get(idKey(envelope.id))
    if (!one) {
      const late = envelope.id === undefined ? undefined : left.get(idKey(envelope.id))
      return stray(late?.renamed ? withIds(text, { id: late.id }) : text, late ? undefined : 'answer')
    }
    forget(one)
    give(one, one.renamed ? withIds(text, { id: one.id, subscriptionId: one.id }) : text)
  }

  function stray(text: string, why: Stray | undefined): void {
    options.onStray(Buffer.from(`${text}\n`), why)
  }

  function give({ sink }: Pick<Pending, 'sink'>, text: string): void {
    const [message] = messagesIn(text) ?? []
    if (message) sink.answer(message)
  }

  function forget(one: Pending): void {
    pending.delete(idKey(one.sentId))
    if (one.token !== undefined) tokens.delete(idKey(one.renamed ? one.sentId : one.token))
  }

  /** A request or a notification of the server. */
  function said({ text, envelope }: Message): void {
    const { progressToken, subscriptionId, cancels, kind } = envelope
    const progress =
      kind === 'notification' && progressToken !== undefined ? tokens.get(idKey(progressToken)) : undefined
    if (progress) {
      const own =
        progress.renamed && progress.token !== undefined
          ? withIds(text, { progressToken: progress.token })
          : text
      return deliver(progress.party, own, progress.sink)
    }
    const listened = pending.get(idKey(subscriptionId ?? (shared ? (cancels ?? '') : '')))
    if (listened) {
      const own = listened.renamed
        ? withIds(text, { subscriptionId: listened.id, cancels: listened.id })
        : text
      return deliver(listened.party, own, listened.sink)
    }
    // It takes a request back that it sent to one of them.
    const meant = cancels === undefined ? undefined : asked.get(idKey(cancels))
    if (meant) return deliver(meant, text, newestOf(meant)?.sink)
    // Nothing says whom it is for. A request belongs to one of them; what has changed is news for all.
    const newest = [...pending.values()].findLast((one) => !one.cancelled)
    if (kind === 'request' || parties.size === 0) {
      const last = lastParty && parties.has(lastParty) ? lastParty : [...parties].at(-1)
      const party = newest?.party ?? last
      if (!party) return stray(text, 'unheard')
      if (kind === 'request') {
        ask(envelope.id, party)
        const waiting = new Set([...pending.values()].filter((one) => !one.cancelled).map((one) => one.party))
        if (waiting.size > 1) options.onGuess()
      }
      return deliver(party, text, newest?.sink)
    }
    for (const party of parties) deliver(party, text, newestOf(party)?.sink)
  }

  function newestOf(party: Party): Pending | undefined {
    return [...pending.values()].findLast((one) => one.party === party && !one.cancelled)
  }

  function ask(id: string | undefined, party: Party): void {
    if (id === undefined) return
    asked.set(idKey(id), party)
    if (asked.size > mostAsked) asked.delete(asked.keys().next().value!)
  }

  function deliver(party: Party, text: string, sink: AnswerSink | undefined): void {
    if (sink?.streams) sink.message(text)
    else if (party.stream) party.stream.message(text)
    else stray(text, 'unheard')
  }

  function gone({ exitCode, signal }: ServerExit): void {
    const why = stopped ? 'the server was ended' : `the server ended (${signal ?? `exit ${exitCode}`})`
    goneWhy = why
    for (const one of pending.values()) give(one, failureText(one.id, 502, why))
    pending.clear()
    options.onExit(stopped ? undefined : why)
  }

  /** One who does not read may stop the server as long as nobody else needs it. */
  function regulate(): void {
    if (slow.size === 0 && !held) return
    const waiting = [...pending.values()].filter((one) => !one.cancelled).map((one) => one.party)
    const wait = slow.size > 0 && [...parties, ...waiting].every((party) => slow.has(party))
    if (wait !== held) server.hold(wait)
    held = wait
  }

  return {
    parties,
    get gone() {
      return goneWhy !== undefined
    },
    get idle() {
      return [...pending.values()].every((one) => one.cancelled)
    },
    async request(message, sink, party) {
      const { text, envelope } = message
      lastParty = party
      count += 1
      const id = envelope.id!
      // Two of one id that wait at the same time (a message repeated on purpose) have an answer each.
      const renamed = shared || pending.has(idKey(id))
      const sentId = renamed ? `"${run}-${count}"` : id
      if (goneWhy !== undefined) {
        give({ sink }, failureText(id, 502, goneWhy))
        return { cancel: () => undefined }
      }
      const token = envelope.progressToken
      const one: Pending = { id, token, sentId, renamed, sink, party, cancelled: false }
      pending.set(idKey(sentId), one)
      regulate()
      if (one.token !== undefined) tokens.set(idKey(renamed ? sentId : one.token), one)
      await server.send(renamed ? withIds(text, { id: sentId, ownProgressToken: sentId }) : text)
      return {
        cancel() {
          if (pending.get(idKey(sentId)) !== one) return
          forget(one)
          left.set(idKey(sentId), one)
          if (left.size > mostLeft) left.delete(left.keys().next().value!)
          void server.send(
            `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${sentId}}}`,
          )
        },
      }
    },
    tell({ text, envelope }, party) {
      lastParty = party
      if (isAnswer(envelope) && envelope.id !== undefined) asked.delete(idKey(envelope.id))
      if (envelope.cancels === undefined) return server.send(text)
      const meant = [...pending.values()].findLast(
        (one) => one.party === party && idKey(one.id) === idKey(envelope.cancels!),
      )
      if (meant) meant.cancelled = true
      return server.send(meant?.renamed ? withIds(text, { cancels: meant.sentId }) : text)
    },
    hold(party, wait) {
      const streams = (slow.get(party) ?? 0) + (wait ? 1 : -1)
      if (streams > 0) slow.set(party, streams)
      else slow.delete(party)
      regulate()
    },
    stop() {
      stopped = true
      return server.stop()
    },
  }
}
