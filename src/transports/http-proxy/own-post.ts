import type { Socket } from 'node:net'
import type { IncomingMessage } from 'node:http'
import { PhaseClock } from './phases.js'
import { failureWords } from './failure-words.js'
import { momentNow, type Tell } from './http-event.js'
import { closeAgent, openUpstreamRequest, type UpstreamRoute } from './upstream-request.js'
import { withoutContentCoding } from '../content-coding.js'
import { longestMessage, type RawHeaders } from '../../wire/index.js'

/** The response to a POST of our own. */
export interface OwnAnswer {
  readonly status: number
  readonly contentType: string
  /** Without its content coding; undefined when the coding is unknown. */
  readonly body: Buffer | undefined
}

/** Sends a POST and reads its response to the end. Rejects with a sentence. */
export function postOwn(
  like: { readonly connection: number; readonly path: string; readonly headers: RawHeaders },
  body: Uint8Array,
  route: UpstreamRoute,
  tell: Tell,
  onSocket: (socket: Socket) => void,
): Promise<OwnAnswer> {
  const { connection, path, headers } = like
  tell({ kind: 'request', connection, method: 'POST', path, headers }, momentNow())
  tell({ kind: 'request-body', bytes: body }, momentNow())
  tell({ kind: 'request-end' }, momentNow())
  return new Promise((resolve, reject) => {
    let over = false
    function fail(why: string): void {
      if (over) return
      over = true
      closeAgent(route.agent)
      tell({ kind: 'failed', by: 'upstream', why }, momentNow())
      reject(new Error(why))
    }
    const onward = openUpstreamRequest({ method: 'POST', rawHeaders: headers }, route)
    const clock = new PhaseClock()
    onward.on('socket', (socket) => {
      onSocket(socket)
      clock.connection(onward, socket, route.upstream.protocol === 'https:')
    })
    onward.on('error', (error) => fail(failureWords(error)))
    onward.on('response', (came: IncomingMessage) => {
      const { statusCode: status = 0, rawHeaders } = came
      const moment = momentNow()
      tell({ kind: 'response', status, headers: rawHeaders, phases: clock.phases(moment.atMs) }, moment)
      const chunks: Buffer[] = []
      let sizeBytes = 0
      came.on('data', (chunk: Buffer) => {
        sizeBytes += chunk.length
        tell({ kind: 'response-body', bytes: chunk }, momentNow())
        if (sizeBytes <= longestMessage) chunks.push(chunk)
        else onward.destroy(new Error('its response is too long'))
      })
      came.on('error', (error) => fail(failureWords(error)))
      came.on('end', () => {
        if (over) return
        over = true
        tell({ kind: 'response-end' }, momentNow())
        closeAgent(route.agent)
        const decoded = withoutContentCoding(Buffer.concat(chunks), came.headers['content-encoding'])
        resolve({ status, contentType: came.headers['content-type'] ?? '', body: decoded })
      })
    })
    onward.end(body)
  })
}
