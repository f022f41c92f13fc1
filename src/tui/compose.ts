import { JsonObject } from '../wire/index.js'
import { indentJson } from '../render/index.js'
import type { MessageLog } from './message-log.js'
import type { Editor } from './state.js'
import { fieldOf } from './text-field.js'

/** Rows that are looked through for what the client says with every request. */
const mostLooked = 1_000

/** An editor with a message to begin with, which the other side understands. */
export function draft(toServer: boolean, log: MessageLog): Editor {
  return {
    purpose: 'compose',
    title: `a message of your own to the ${toServer ? 'server' : 'client'}`,
    direction: toServer ? 'client_to_server' : 'server_to_client',
    field: fieldOf(indentJson(toServer ? requestLike(log) : listChanged), 'start'),
    original: '',
  }
}

const listChanged = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'

/** There is no ping in 2026-07-28, and every request has to say again who asks. */
function requestLike(log: MessageLog): string {
  const meta = modernMeta(log)
  if (meta === undefined) return '{"jsonrpc":"2.0","id":"wiretape-1","method":"ping"}'
  return `{"jsonrpc":"2.0","id":"wiretape-1","method":"tools/list","params":{"_meta":${meta}}}`
}

/** `_meta` of the last request of a client of the modern era, without what is about that request only. */
function modernMeta(log: MessageLog): string | undefined {
  for (let at = log.length - 1; at >= Math.max(0, log.length - mostLooked); at -= 1) {
    const row = log.row(at)
    if (row?.kind !== 'request' || row.direction !== 'client_to_server') continue
    if (!row.part?.envelope.modern) return undefined
    const text = log.textOf(at)
    const meta = text === undefined ? undefined : new JsonObject(text, 0).object('params')?.object('_meta')
    if (!meta) continue
    const members = meta.others(['progressToken']).map(([name, value]) => `${JSON.stringify(name)}:${value}`)
    return `{${members.join(',')}}`
  }
  return undefined
}
