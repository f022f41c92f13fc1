import type { IncomingMessage, ServerResponse } from 'node:http'
import { WiretapeError } from '../model/index.js'
import { whyNoAct, type Acting } from './acting.js'
import type { Catalogue } from './catalogue.js'
import {
  commandPath,
  deletePath,
  credentialOf,
  isSame,
  rulesPath,
  savedPath,
  sessionPath,
  sqlPath,
  type createGuard,
} from './guard.js'
import { contentPolicy, type Page } from './pages.js'
import { refuse, send, sendJson } from './replies.js'
import { sendContent, sendFile } from './send-file.js'
import type { AnswerSaved } from './saved.js'
import { answerSql } from './sql.js'
import type { Sessions } from './sessions.js'

/** State that requests are answered from. */
export interface Stage {
  readonly pages: ReadonlyMap<string, Page>
  readonly catalogue: Catalogue
  readonly guard: ReturnType<typeof createGuard>
  readonly token: string
  /** Unused codes, with a callback for their use. */
  readonly codes: Map<string, () => void>
  readonly acting: Acting
  readonly sessions: Sessions
  readonly saved: AnswerSaved
}

/** Answers a request that passed the barrier. */
export async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  stage: Stage,
): Promise<void> {
  setSafeHeaders(response)
  const refusal = stage.guard(request)
  if (refusal) {
    refuse(response, refusal.status, refusal.why)
    return
  }
  const { pathname } = new URL(request.url ?? '/', 'http://localhost')
  const page = stage.pages.get(pathname)
  if (page) return send(response, page.type, page.body)
  if (pathname === '/api/token') return giveToken(request, response, stage)
  if (!isSame(credentialOf(request, 'Bearer'), stage.token))
    return refuse(response, 403, 'the token is missing or wrong: open the address that wiretape printed')
  const { catalogue } = stage
  if (pathname === '/api/place') return sendJson(response, { store: catalogue.store ?? null })
  if (pathname === '/api/recordings') return sendJson(response, await catalogue.recordings())
  if (pathname === '/api/given') return sendJson(response, await catalogue.given())
  const deleted = deletePath.exec(pathname)
  if (deleted) return remove(request, response, catalogue, deleted[1]!)
  if (pathname === '/api/search') return search(request, response, catalogue)
  const session = sessionPath.exec(pathname)
  const server = serverPath.exec(pathname)
  if (session || server) return connect(request, response, stage, session?.[1], server?.[1])
  const ruled = rulesPath.exec(pathname)
  if (ruled || pathname === savedPath || pathname === sqlPath) {
    const denial = whyNoAct(request)
    if (denial) return refuse(response, denial.status, denial.why)
    if (pathname === sqlPath) return answerSql(request, response, catalogue)
    return ruled ? stage.acting.rules(ruled[1]!, request, response) : stage.saved(request, response)
  }
  const live = /^\/api\/recordings\/([\w-]{1,64})\/control$/.exec(pathname)
  const channel = commandPath.exec(pathname)
  if (live || channel) return act(request, response, stage, live?.[1], channel?.[1])
  const file = /^\/api\/recordings\/([\w-]{1,64})\/(\d{1,6})$/.exec(pathname)
  const stored = file ? await catalogue.contentOf?.(file[1]!, Number(file[2])) : undefined
  if (stored) return sendContent(stored, response)
  const path = file ? await catalogue.pathOf(file[1]!, Number(file[2])) : undefined
  if (path === undefined) refuse(response, 404, 'not found')
  else await sendFile(path, response, catalogue)
}

/** Attaches a page to the capture of a recording, or runs a command of an attached page. */
async function act(
  request: IncomingMessage,
  response: ServerResponse,
  { acting, catalogue }: Stage,
  recording = '',
  channel?: string,
): Promise<void> {
  const denial = whyNoAct(request)
  if (denial) return refuse(response, denial.status, denial.why)
  if (request.method === 'POST' && channel !== undefined) return acting.command(channel, request, response)
  if (request.method !== 'GET' || channel !== undefined)
    return refuse(response, 405, 'commands must be sent with POST')
  const connection = await catalogue.control?.(recording)
  if (connection) await acting.open(connection, response)
  else refuse(response, 404, 'no capture writes this recording now')
}

/** Shows how a recording's server is reached, connects to a shown server, runs commands of sessions. */
async function connect(
  request: IncomingMessage,
  response: ServerResponse,
  { sessions }: Stage,
  session?: string,
  recording?: string,
): Promise<void> {
  const denial = whyNoAct(request)
  if (denial) return refuse(response, denial.status, denial.why)
  const isRead = request.method === 'GET'
  if (recording !== undefined) return sessions.show(recording, response)
  if (session === undefined) return isRead ? sessions.list(response) : sessions.connect(request, response)
  return isRead ? sessions.follow(session, response) : sessions.command(session, request, response)
}

/** How the server of a recording is reached. */
const serverPath = /^\/api\/recordings\/([\w-]{1,64})\/server$/

async function remove(
  request: IncomingMessage,
  response: ServerResponse,
  catalogue: Catalogue,
  id: string,
): Promise<void> {
  const denial = whyNoAct(request)
  if (denial) return refuse(response, denial.status, denial.why)
  if (request.method !== 'POST' || !catalogue.remove)
    return refuse(response, 405, 'deletions must be sent with POST')
  try {
    await catalogue.remove(id)
    sendJson(response, {})
  } catch (error) {
    if (!(error instanceof WiretapeError)) throw error
    refuse(response, 409, error.message)
  }
}

async function search(
  request: IncomingMessage,
  response: ServerResponse,
  catalogue: Catalogue,
): Promise<void> {
  const text = new URL(request.url ?? '/', 'http://localhost').searchParams.get('q') ?? ''
  try {
    sendJson(
      response,
      (await catalogue.search?.(text.slice(0, longestFilter))) ?? { matches: [], isCut: false },
    )
  } catch (error) {
    if (!(error instanceof WiretapeError)) throw error
    refuse(response, 400, error.hint === undefined ? error.message : `${error.message} (${error.hint})`)
  }
}

/** Characters of a filter. */
const longestFilter = 4_000

/** Exchanges a one-time code for the token. */
function giveToken(request: IncomingMessage, response: ServerResponse, { codes, token }: Stage): void {
  const given = credentialOf(request, 'Once')
  const code = [...codes.keys()].find((known) => isSame(given, known))
  if (code === undefined || request.method !== 'GET')
    return refuse(response, 403, 'this address was already used: copy a new one from the output of wiretape')
  const used = codes.get(code)!
  codes.delete(code)
  sendJson(response, { token })
  used()
}

function setSafeHeaders(response: ServerResponse): void {
  response.setHeader('Content-Security-Policy', contentPolicy)
  response.setHeader('X-Content-Type-Options', 'nosniff')
  response.setHeader('X-Frame-Options', 'DENY')
  response.setHeader('Referrer-Policy', 'no-referrer')
  response.setHeader('Cross-Origin-Opener-Policy', 'same-origin')
  response.setHeader('Cross-Origin-Resource-Policy', 'same-origin')
  response.setHeader('Cache-Control', 'no-store')
}
