import { isCommandLine, WiretapeError } from '../model/index.js'
import type { MockOptions } from './mock.js'

/** Those who write JavaScript have no compiler to tell them. @throws WiretapeError `usage` */
export function checkOptions({ listen, transport, fallback, record }: MockOptions): void {
  const port = listen?.port ?? 0
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    refuse('listen.port', 'it is a number from 0 (any that is free) to 65535')
  if (transport !== undefined && !['streamable-http', 'sse'].includes(transport))
    refuse('transport', 'it is streamable-http or sse')
  if (fallback !== undefined && !isCommandLine(fallback))
    refuse('fallback', "it is a list of texts: ['node', 'server.js']")
  if (!record) return
  if (!['new', 'all'].includes(record.what)) refuse('record.what', 'it is new or all')
  if (typeof record.out !== 'string' || record.out === '') refuse('record.out', 'it is the path of the copy')
  if (!fallback)
    throw new WiretapeError('usage', 'there is no real server whose answers could be recorded', {
      hint: 'name one: --fallback -- COMMAND',
    })
}

function refuse(name: string, hint: string): never {
  throw new WiretapeError('usage', `the option ${name} makes no sense`, { hint })
}
