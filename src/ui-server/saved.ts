import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { z } from 'zod'
import { WiretapeError } from '../model/index.js'
import type { Catalogue } from './catalogue.js'
import { jsonOf, refuse, sendJson } from './replies.js'
import type { ServersToConfirm } from './saved-calls.js'

const longestJson = 16 * 1024 * 1024
/** Shown servers whose codes are kept. */
const mostShown = 256
/** Concurrent runs of all pages. */
const mostRuns = 4

const given = z.record(z.string().max(200), z.string().max(longestJson))
const fileName = z.string().max(4_000)
const command = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('list'), given: z.record(fileName, given) }),
  z.strictObject({
    /** `ask` responds with the servers that need consent, and starts nothing. */
    type: z.enum(['run', 'ask']),
    file: fileName,
    name: z.string().max(1_000).optional(),
    given: given.optional(),
    /** Codes of servers that a person of this page consented to. */
    codes: z.array(z.string().max(100)).max(mostShown).optional(),
  }),
  z.strictObject({
    type: z.literal('save'),
    file: z.string().max(200),
    /** Recording of the server. */
    recording: z.string().max(64),
    method: z.string().min(1).max(200),
    params: z.string().max(longestJson),
    answer: z.string().max(longestJson),
  }),
])

/** Lists, runs and saves calls for pages. */
export type AnswerSaved = (request: IncomingMessage, response: ServerResponse) => Promise<void>

/** A run needs a code for each of its servers. A code is given with a shown server, and only that page knows it. */
export function createSaved(catalogue: Catalogue): AnswerSaved {
  /** Keys of shown servers by code. */
  const shown = new Map<string, string>()
  let runs = 0

  function withCodes({ ask }: ServersToConfirm): unknown {
    const servers = ask.map(({ key, ...server }) => {
      const code = randomBytes(16).toString('base64url')
      shown.set(code, key)
      return { ...server, code }
    })
    for (const old of [...shown.keys()].slice(0, -mostShown)) shown.delete(old)
    return { ask: servers }
  }

  async function carryOut(asked: z.infer<typeof command>, response: ServerResponse): Promise<void> {
    const saved = catalogue.saved!
    if (asked.type === 'list') {
      const files = await saved.list(new Map(Object.entries(asked.given)))
      return sendJson(response, { folder: saved.folder, files })
    }
    if (asked.type === 'save') {
      const server = await catalogue.server?.(asked.recording)
      if (!server) return refuse(response, 404, 'no such recording')
      const { file, method, params, answer } = asked
      return sendJson(response, { told: await saved.save({ file, server, method, params, answer }) })
    }
    const { type, file, name, given: values = {}, codes = [] } = asked
    if (type === 'run' && runs >= mostRuns)
      return refuse(response, 503, `${mostRuns} runs are in progress: wait until one has ended`)
    const allowed = new Set(codes.map((code) => shown.get(code)))
    // When the page leaves, its remaining calls are not made: their responses would have no reader.
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    runs += 1
    try {
      const wanted = { file, given: values, ...(name !== undefined && { name }) }
      const isAllowed = (key: string): boolean => type === 'run' && allowed.has(key)
      const outcome = await saved.run(wanted, isAllowed, gone.signal)
      if ('exchanges' in outcome) return sendJson(response, outcome)
      const ask = outcome.ask.filter(({ key }) => !allowed.has(key))
      return sendJson(response, withCodes({ ask }))
    } finally {
      runs -= 1
    }
  }

  return async (request, response) => {
    const { saved } = catalogue
    if (!saved) return refuse(response, 404, 'this wiretape has no folder for saved calls')
    if (request.method === 'GET')
      return sendJson(response, { folder: saved.folder, files: await saved.list(new Map()) })
    const read = command.safeParse(await jsonOf(request))
    if (!read.success) return refuse(response, 400, 'invalid command for saved calls')
    try {
      return await carryOut(read.data, response)
    } catch (error) {
      if (!(error instanceof WiretapeError)) throw error
      const { message, hint } = error
      return refuse(response, 409, hint === undefined ? message : `${message} (${hint})`)
    }
  }
}
