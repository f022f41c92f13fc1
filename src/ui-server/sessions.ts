import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { z } from 'zod'
import { WiretapeError } from '../model/index.js'
import { jsonObjectIn, onOneLine, readWritten } from '../wire/index.js'
import type { Catalogue, UiRecorder } from './catalogue.js'
import type { RecordedServer } from './recorded-server.js'
import { openSession, type ClientSession } from './client-session.js'
import { jsonOf, refuse, sendJson } from './replies.js'
import { eventsTo } from './page-events.js'

/** Open sessions of all pages. */
const mostSessions = 16
/** Sessions that ended by themselves, kept to say so. */
const mostEnded = 16
/** Shown servers that wait for a person's consent. */
const mostShown = 64
/** Longer than a page reload takes. */
const graceMs = 30_000
/** Pages that follow one session. */
const mostPages = 16
const longestJson = 16 * 1024 * 1024

const jsonText = z.string().max(longestJson)
const command = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('ask'),
    key: z.string().min(1).max(100),
    method: z.string().min(1).max(200),
    params: jsonText,
  }),
  z.strictObject({ type: z.literal('cancel'), key: z.string().max(100) }),
  z.strictObject({ type: z.literal('answer'), question: z.string().max(100), text: jsonText }),
  z.strictObject({
    type: z.literal('roots'),
    roots: z
      .array(z.strictObject({ uri: z.string().max(4_000), name: z.string().max(200).optional() }))
      .max(100),
  }),
  z.strictObject({ type: z.literal('keep'), on: z.boolean() }),
  z.strictObject({ type: z.literal('close') }),
])

/** A person's consent to a shown server. Headers only for a URL. */
const yes = z.strictObject({
  code: z.string().max(100),
  headers: z
    .array(z.strictObject({ name: z.string().max(200), value: z.string().max(16_000) }))
    .max(50)
    .optional(),
})

interface Kept {
  readonly session: ClientSession
  readonly recording: string
  /** Open page streams. */
  pages: number
  /** Continues without a page. */
  isKept: boolean
  timer: NodeJS.Timeout | undefined
  endsAtMs: number | undefined
}

/** Client sessions of pages. A recorder in front of each server records the messages. */
export class Sessions {
  readonly #catalogue: Catalogue
  /** By code. */
  readonly #shown = new Map<string, RecordedServer>()
  readonly #kept = new Map<string, Kept>()

  constructor(catalogue: Catalogue) {
    this.#catalogue = catalogue
  }

  /** Shows how a recording's server is reached, with a code for a person's consent to exactly this. */
  async show(recording: string, response: ServerResponse): Promise<void> {
    const server = await this.#catalogue.server?.(recording)
    if (!server) return refuse(response, 404, 'no such recording')
    const { command: _, url: __, ...told } = server
    if (server.why !== undefined) return sendJson(response, told)
    const code = randomBytes(16).toString('base64url')
    this.#shown.set(code, server)
    for (const old of [...this.#shown.keys()].slice(0, -mostShown)) this.#shown.delete(old)
    return sendJson(response, { ...told, code })
  }

  /** Connects to the server shown with a code. */
  async connect(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = yes.safeParse(await jsonOf(request))
    const server = asked.success ? this.#shown.get(asked.data.code) : undefined
    if (!asked.success || !server) return refuse(response, 409, 'the start of this server was not confirmed')
    // One consent, one start.
    this.#shown.delete(asked.data.code)
    if (openOnes(this.#kept) >= mostSessions)
      return refuse(response, 503, 'too many sessions are open: end one')
    const recorder = recorderFor(this.#catalogue, server, asked.data.headers ?? [])
    if ('why' in recorder) return refuse(response, 400, recorder.why)
    const session = await openSession(
      () => recorder.recording(),
      (role) => recorder.open(role),
    )
    if ('error' in session) return refuse(response, 502, session.error)
    return sendJson(response, { id: this.#keep(session), recording: session.recording })
  }

  /** Includes the time until sessions without a page end, and why sessions have ended by themselves. */
  list(response: ServerResponse): void {
    sendJson(
      response,
      [...this.#kept].map(([id, kept]) => listed(id, kept)),
    )
  }

  /** Responds with a stream of lines, each a `SessionEvent`. */
  follow(id: string, response: ServerResponse): void {
    const kept = this.#kept.get(id)
    if (!kept) return refuse(response, 404, 'this session has ended')
    if (kept.pages >= mostPages) return refuse(response, 503, 'too many pages show this session')
    stay(kept)
    kept.pages += 1
    response.setHeader('Content-Type', 'application/x-ndjson; charset=utf-8')
    response.writeHead(200)
    const stop = kept.session.follow(eventsTo(response))
    response.once('close', () => {
      stop()
      kept.pages -= 1
      if (kept.pages === 0 && this.#kept.has(id)) this.#endLater(id, kept)
    })
  }

  async command(id: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const kept = this.#kept.get(id)
    if (!kept) return refuse(response, 404, 'this session has ended')
    const read = command.safeParse(await jsonOf(request))
    if (!read.success) return refuse(response, 400, 'invalid session command')
    const asked = read.data
    if (asked.type === 'close') await this.#end(id)
    else if (asked.type === 'keep') {
      kept.isKept = asked.on
      this.#endLater(id, kept)
    } else return carryOut(asked, kept.session, response)
    return sendJson(response, {})
  }

  async close(): Promise<void> {
    await Promise.all([...this.#kept.keys()].map((id) => this.#end(id)))
  }

  /** Returns the id of a new session. */
  #keep(session: ClientSession): string {
    const id = randomBytes(16).toString('base64url')
    const { recording } = session
    const kept: Kept = { session, recording, pages: 0, isKept: false, timer: undefined, endsAtMs: undefined }
    this.#kept.set(id, kept)
    this.#endLater(id, kept)
    session.follow(({ type }) => type === 'ended' && this.#release(kept))
    return id
  }

  async #end(id: string): Promise<void> {
    const kept = this.#kept.get(id)
    this.#kept.delete(id)
    clearTimeout(kept?.timer)
    await kept?.session.close()
  }

  /** A session without a page ends. */
  #endLater(id: string, kept: Kept): void {
    stay(kept)
    if (kept.isKept || kept.pages > 0) return
    kept.endsAtMs = performance.now() + graceMs
    kept.timer = setTimeout(() => void this.#end(id).catch(() => undefined), graceMs)
    kept.timer.unref()
  }

  /** A session whose server has ended needs no place; the list still says why it ended. */
  #release({ session }: Kept): void {
    session.close().catch(() => undefined)
    const idle = [...this.#kept].filter(([, one]) => one.session.ended !== undefined && one.pages === 0)
    for (const [id] of idle.slice(0, -mostEnded)) void this.#end(id).catch(() => undefined)
  }
}

function stay(kept: Kept): void {
  clearTimeout(kept.timer)
  kept.endsAtMs = undefined
}

/** Number of sessions whose server runs. */
function openOnes(sessions: ReadonlyMap<string, Kept>): number {
  return [...sessions.values()].filter(({ session }) => session.ended === undefined).length
}

/** A session as pages list it. */
function listed(id: string, { session: { ended }, recording, isKept, endsAtMs }: Kept): unknown {
  return {
    id,
    recording,
    isKept,
    ...(endsAtMs !== undefined && { endsInMs: Math.max(0, endsAtMs - performance.now()) }),
    ...(ended !== undefined && { ended }),
  }
}

/** @returns the reason if a header cannot be sent */
function recorderFor(
  catalogue: Catalogue,
  server: RecordedServer,
  given: NonNullable<z.infer<typeof yes>['headers']>,
): UiRecorder | { readonly why: string } {
  if (given.length > 0 && server.url === undefined) return { why: 'headers need a server with a URL' }
  if (!catalogue.recorder) return { why: 'this wiretape does not connect to servers' }
  try {
    return catalogue.recorder(
      server,
      given.map(({ name, value }) => [name, value] as const),
    )
  } catch (error) {
    if (!(error instanceof WiretapeError)) throw error
    return { why: error.message.replace(/^--/, '') }
  }
}

/** Runs a command of a session. */
async function carryOut(
  asked: Exclude<z.infer<typeof command>, { type: 'keep' | 'close' }>,
  session: ClientSession,
  response: ServerResponse,
): Promise<void> {
  if (asked.type === 'ask') {
    const { key, method, params } = asked
    const found = jsonObjectIn(params)
    if (!found) return refuse(response, 400, 'the parameters must be a JSON object')
    const text = onOneLine(params.slice(found.start, found.end))
    return sendJson(response, await session.ask(key, method, text))
  }
  if (asked.type === 'answer') {
    const written = readWritten(asked.text, 'answer')
    if ('fault' in written) return refuse(response, 400, written.fault)
    const { result, error } = written
    const why = session.answer(asked.question, result === undefined ? { error: error! } : { result })
    return why === undefined ? sendJson(response, {}) : refuse(response, 409, why)
  }
  if (asked.type === 'roots') await session.setRoots(JSON.stringify(asked.roots))
  else session.cancel(asked.key)
  return sendJson(response, {})
}
