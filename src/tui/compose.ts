import { redactionMarker } from '../redaction/index.js'
import { JsonObject, kindAt } from '../wire/index.js'
import { indentJson } from '../render/index.js'
import type { LogRow, MessageLog } from './message-log.js'
import type { Editor } from './state.js'
import { fieldOf } from './text-field.js'

/** Rows searched for an earlier message. */
const mostLooked = 1_000

/** An id that no request of the client uses. */
const ownId = '"wiretape-1"'

/**
 * An editor with a draft: the chosen message if it has the right direction, else one that the other side
 * understands.
 */
export function draft(toServer: boolean, log: MessageLog, chosen: LogRow | undefined): Editor {
  const like = chosen && textLike(toServer, log, chosen)
  const text = like ?? (toServer ? requestLike(log) : listChanged)
  const redacted = text.includes(redactionMarker) ? `; give the real value for ${redactionMarker}` : ''
  return {
    purpose: 'compose',
    title: `your own message to the ${toServer ? 'server' : 'client'}${redacted}`,
    direction: toServer ? 'client_to_server' : 'server_to_client',
    field: fieldOf(indentJson(text), 'start'),
    original: '',
  }
}

/** The chosen request or notification, or the request of the chosen response, with an id of ours. */
function textLike(toServer: boolean, log: MessageLog, chosen: LogRow): string | undefined {
  const isAnswer = chosen.kind === 'result' || chosen.kind === 'error'
  const row = isAnswer ? log.row(chosen.peer) : chosen
  if (row?.kind !== 'request' && row?.kind !== 'notification') return undefined
  if ((row.direction === 'client_to_server') !== toServer) return undefined
  const text = log.textOf(row.row)
  if (text === undefined || kindAt(text, 0) !== 'object') return undefined
  return rewritten(text, { id: () => ownId, params: withoutProgress })
}

/** Without `progressToken`: the peer did not ask for progress and would receive it. */
function withoutProgress(params: string): string {
  if (kindAt(params, 0) !== 'object') return params
  return rewritten(params, { _meta: (meta) => (kindAt(meta, 0) === 'object' ? withoutToken(meta) : meta) })
}

function withoutToken(meta: string): string {
  return objectOf(new JsonObject(meta, 0).others(['progressToken']))
}

/** The object with the members named in `change` rewritten; all others keep their text. */
function rewritten(text: string, change: Readonly<Record<string, (value: string) => string>>): string {
  const members = new JsonObject(text, 0).others()
  return objectOf(
    members.map(([name, value]) => [name, Object.hasOwn(change, name) ? change[name]!(value) : value]),
  )
}

function objectOf(members: readonly (readonly [name: string, text: string])[]): string {
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`
}

const listChanged = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'

/** 2026-07-28 has no ping, and every request must identify its client in `_meta`. */
function requestLike(log: MessageLog): string {
  const meta = modernMeta(log)
  if (meta === undefined) return `{"jsonrpc":"2.0","id":${ownId},"method":"ping"}`
  return `{"jsonrpc":"2.0","id":${ownId},"method":"tools/list","params":{"_meta":${meta}}}`
}

/** `_meta` of the last request of a modern client, without the members specific to that request. */
function modernMeta(log: MessageLog): string | undefined {
  for (let at = log.length - 1; at >= Math.max(0, log.length - mostLooked); at -= 1) {
    const row = log.row(at)
    if (row?.kind !== 'request' || row.direction !== 'client_to_server') continue
    if (!row.part?.envelope.modern) return undefined
    const text = log.textOf(at)
    const meta = text === undefined ? undefined : new JsonObject(text, 0).object('params')?.object('_meta')
    if (!meta) continue
    return objectOf(meta.others(['progressToken']))
  }
  return undefined
}

/** A draft response: the last result of such a request, else the shape of the method's results. */
export function answerDraft(log: MessageLog, request: LogRow): string {
  return indentJson(answerBefore(log, request) ?? `{"result":${shapeOf(request)}}`)
}

function answerBefore(log: MessageLog, { part, direction }: LogRow): string | undefined {
  const { method, subject } = part?.envelope ?? {}
  for (let at = log.length - 1; at >= Math.max(0, log.length - mostLooked); at -= 1) {
    const row = log.row(at)
    if (row?.kind !== 'result' || row.direction === direction || row.state !== 'passed') continue
    if (row.request?.method !== method || row.request?.subject !== subject) continue
    const text = log.textOf(at)
    if (text === undefined || text.includes(redactionMarker)) continue
    const result = new JsonObject(text, 0).raw('result')
    if (result !== undefined) return `{"result":${result}}`
  }
  return undefined
}

function shapeOf({ part }: LogRow): string {
  const { method = '', modern, subject } = part?.envelope ?? {}
  const shape =
    method === 'resources/read' ? { contents: [{ uri: subject ?? '', text: '' }] } : shapes[method]
  return JSON.stringify({ ...(modern && { resultType: 'complete' }), ...shape })
}

/** Results with their required members. */
const shapes: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    serverInfo: { name: 'wiretape', version: '0' },
  },
  'tools/call': { content: [{ type: 'text', text: '' }] },
  'tools/list': { tools: [] },
  'prompts/list': { prompts: [] },
  'prompts/get': { messages: [] },
  'resources/list': { resources: [] },
  'resources/templates/list': { resourceTemplates: [] },
  'completion/complete': { completion: { values: [] } },
  'roots/list': { roots: [] },
  'sampling/createMessage': { role: 'assistant', content: { type: 'text', text: '' }, model: '' },
  'elicitation/create': { action: 'accept', content: {} },
}
