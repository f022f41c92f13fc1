import type { IncomingMessage, ServerResponse } from 'node:http'
import { z } from 'zod'
import { WiretapeError } from '../model/index.js'
import type { Catalogue } from './catalogue.js'
import { jsonOf, refuse, sendJson } from './replies.js'

const longestJson = 16 * 1024 * 1024
const command = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('run'),
    file: z.string().max(4_000).optional(),
    name: z.string().max(1_000).optional(),
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

/** Lists, runs and saves calls for a page. */
export async function answerSaved(
  request: IncomingMessage,
  response: ServerResponse,
  catalogue: Catalogue,
): Promise<void> {
  const { saved } = catalogue
  if (!saved) return refuse(response, 404, 'no folder for saved calls')
  if (request.method === 'GET') return sendJson(response, { folder: saved.folder, files: await saved.list() })
  const read = command.safeParse(await jsonOf(request))
  if (!read.success) return refuse(response, 400, 'not a valid command about saved calls')
  const asked = read.data
  try {
    if (asked.type === 'run') {
      const { file, name } = asked
      // Nobody reads what becomes of calls of a page that has left.
      const gone = new AbortController()
      response.once('close', () => gone.abort())
      const only = file === undefined ? undefined : { file, ...(name !== undefined && { name }) }
      return sendJson(response, { exchanges: await saved.run(only, gone.signal) })
    }
    const server = await catalogue.server?.(asked.recording)
    if (!server) return refuse(response, 404, 'no such recording')
    const { file, method, params, answer } = asked
    return sendJson(response, { told: await saved.save({ file, server, method, params, answer }) })
  } catch (error) {
    if (!(error instanceof WiretapeError)) throw error
    return refuse(
      response,
      409,
      error.hint === undefined ? error.message : `${error.message} (${error.hint})`,
    )
  }
}
