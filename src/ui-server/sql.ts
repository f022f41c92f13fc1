import type { IncomingMessage, ServerResponse } from 'node:http'
import { z } from 'zod'
import { WiretapeError } from '../model/index.js'
import type { Catalogue } from './catalogue.js'
import { jsonOf, refuse, sendJson } from './replies.js'

const asked = z.strictObject({ query: z.string().min(1).max(100_000) })

/** Answers a query of a page. Closing the page ends its query. */
export async function answerSql(
  request: IncomingMessage,
  response: ServerResponse,
  catalogue: Catalogue,
): Promise<void> {
  if (request.method !== 'POST' || !catalogue.sql)
    return refuse(response, 405, 'queries must be sent with POST')
  const body = asked.safeParse(await jsonOf(request))
  if (!body.success) return refuse(response, 400, 'query must be a string')
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  try {
    sendJson(response, await catalogue.sql(body.data.query, gone.signal))
  } catch (error) {
    if (!(error instanceof WiretapeError)) throw error
    refuse(response, 400, error.hint === undefined ? error.message : `${error.message} (${error.hint})`)
  }
}
