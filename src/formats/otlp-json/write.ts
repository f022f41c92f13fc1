import {
  createOrigins,
  createRecent,
  type MessageRecord,
  type MetaRecord,
  type Origin,
  type Report,
} from '../../model/index.js'
import { decodeString } from '../../wire/index.js'
import type { Recording } from '../format.js'
import { headerOf } from '../http-transcript/headers.js'
import { createLosses } from '../losses.js'
import { textChunks } from '../text-chunks.js'
import { metaOf, tellRecords, type ToldMessage } from '../told/told.js'
import { hexId, parentOf, type TraceParent } from './trace-context.js'

/** Of `span.kind`. */
const serverKind = 2
const clientKind = 3
const statusError = 2

/** What a span needs of the request once its answer is there. */
interface Draft {
  readonly seq: number
  readonly startNs: bigint
  readonly traceId: string
  readonly parent: TraceParent | undefined
  readonly kind: number
  readonly name: string
  readonly attributes: readonly string[]
}

/** Requests that wait for their answer; of more, the oldest end without one. */
const mostOpen = 100_000

/**
 * A span for each request and its answer, and for each notification; one trace a conversation, or the trace that
 * `_meta.traceparent` of a message says. Seen from the server: it serves the client's requests, and is the client of
 * its own. Payloads are not written: they are sensitive, and the conventions leave them out.
 */
export function writeSpans(recording: Recording, report: Report): AsyncIterable<Uint8Array> {
  return textChunks(textOf(recording, report), recording)
}

async function* textOf(recording: Recording, report: Report): AsyncGenerator<string, void, undefined> {
  const losses = createLosses(report)
  const meta = await metaOf(recording)
  yield `{"resourceSpans":[{"resource":{"attributes":[${resourceOf(meta).join(',')}]},`
  yield `"scopeSpans":[{"scope":{"name":"wiretape"},"spans":[`
  let separator = '\n'
  for await (const span of spansOf(recording, meta, losses)) {
    yield `${separator}${span}`
    separator = ',\n'
  }
  yield `${separator === '\n' ? '' : '\n'}]}]}]}\n`
  losses.tell()
}

async function* spansOf(
  recording: Recording,
  meta: MetaRecord | undefined,
  losses: ReturnType<typeof createLosses>,
): AsyncGenerator<string, void, undefined> {
  const open = new Map<number, Draft>()
  const session = meta?.wiretape?.session ?? meta?.label ?? ''
  const startNs = BigInt(Math.max(0, Date.parse(meta?.startedAt ?? '') || 0)) * 1_000_000n
  const { transport = 'stdio', url = null, metadata = [] } = meta?.wiretape ?? {}
  const originOf = createOrigins({ transport, url, metadata })
  const attributesOf = new Map<Origin, string[]>()
  const sessionIds = createSessionIds()
  const versions = createRecent<string>({ entries: 10_000 })
  for await (const told of tellRecords(recording)) {
    if (told.kind !== 'message') {
      losses.record(told.record)
      continue
    }
    const { part, record, seq, us, request, text } = told
    const { envelope } = part
    const { conversation = '' } = record
    const version = envelope.protocolVersion ?? versions.get(conversation)
    if (version !== undefined) versions.set(conversation, version)
    const origin = originOf(conversation)
    const common = attributesOf.get(origin) ?? transportAttributes(origin)
    attributesOf.set(origin, common)
    sessionIds.see(record)
    losses.add('payloads are left out')
    if (us === undefined) losses.add('times are not known, spans have the time 0')
    if (part === record.parts[0]) {
      if (record.batch) losses.add('batches are written message by message')
      losses.marks(record)
      losses.links(record)
    }
    const atNs = startNs + BigInt(Math.max(0, Math.round(us ?? 0))) * 1000n
    if (envelope.kind === 'request' || envelope.kind === 'notification') {
      const sessionId = sessionIds.of(record)
      const draft = draftOf(told, atNs, { session, common, version, parent: parentOf(text), sessionId })
      if (envelope.kind === 'notification') yield spanText(session, draft, atNs)
      else {
        open.set(seq, draft)
        if (open.size > mostOpen) {
          const [oldest] = open
          open.delete(oldest![0])
          yield spanText(session, oldest![1], oldest![1].startNs, unanswered)
        }
      }
      continue
    }
    const draft = request && open.get(request.seq)
    if (!draft) {
      losses.add('answers to no request, and what is no JSON-RPC, are left out')
      continue
    }
    open.delete(request.seq)
    yield spanText(session, draft, atNs, outcomeOf(told))
  }
  for (const draft of open.values()) yield spanText(session, draft, draft.startNs, unanswered)
}

/** Of conversations whose headers say it; redaction mostly took it out of them. */
function createSessionIds(): {
  see(record: MessageRecord): void
  of(record: MessageRecord): string | undefined
} {
  const ids = new Map<string, string>()
  return {
    see({ http, conversation = '' }) {
      const id = headerOf(http?.headers, 'Mcp-Session-Id')
      if (id !== undefined && !id.includes('[REDACTED]')) ids.set(conversation, id)
    },
    of: ({ conversation = '' }) => (ids.size === 0 ? undefined : ids.get(conversation)),
  }
}

interface Outcome {
  readonly attributes: readonly string[]
  readonly error?: string
}

const unanswered: Outcome = { attributes: [bool('wiretape.unanswered', true)] }

function outcomeOf({ part }: ToldMessage): Outcome {
  const { kind, errorCode = '_OTHER', errorMessage = '', toolError } = part.envelope
  if (kind === 'error') {
    return {
      attributes: [text('error.type', errorCode), text('rpc.response.status_code', errorCode)],
      error: errorMessage,
    }
  }
  return toolError ? { attributes: [text('error.type', 'tool_error')], error: '' } : { attributes: [] }
}

interface About {
  readonly session: string
  readonly common: readonly string[]
  readonly version: string | undefined
  readonly parent: TraceParent | undefined
  readonly sessionId: string | undefined
}

function draftOf({ record, part, seq }: ToldMessage, startNs: bigint, about: About): Draft {
  const { method = '', subject, id } = part.envelope
  const { conversation } = record
  const attributes = [text('mcp.method.name', method), ...about.common]
  const isTool = method === 'tools/call'
  const isPrompt = method === 'prompts/get'
  if (isTool) attributes.push(text('gen_ai.operation.name', 'execute_tool'))
  if (subject !== undefined) {
    if (isTool) attributes.push(text('gen_ai.tool.name', subject))
    else if (isPrompt) attributes.push(text('gen_ai.prompt.name', subject))
    else if (
      /^(?:resources\/(?:read|subscribe|unsubscribe)|notifications\/resources\/updated)$/.test(method)
    ) {
      attributes.push(text('mcp.resource.uri', subject))
    }
  }
  if (id !== undefined && id !== 'null') {
    attributes.push(text('jsonrpc.request.id', id.startsWith('"') ? decodeString(id, 0, id.length) : id))
  }
  const { version } = about
  if (version !== undefined) attributes.push(text('mcp.protocol.version', version))
  // A recording has a name for it where the session's id is a secret.
  if (about.sessionId !== undefined) attributes.push(text('mcp.session.id', about.sessionId))
  if (conversation !== undefined) attributes.push(text('wiretape.conversation', conversation))
  const target = isTool || isPrompt ? subject : undefined
  return {
    seq,
    startNs,
    traceId: about.parent?.traceId ?? hexId(JSON.stringify(['trace', about.session, conversation ?? '']), 16),
    parent: about.parent,
    kind: record.direction === 'client_to_server' ? serverKind : clientKind,
    name: target === undefined ? method : `${method} ${target}`,
    attributes,
  }
}

function spanText(session: string, draft: Draft, endNs: bigint, outcome?: Outcome): string {
  const { parent, seq } = draft
  const error = outcome?.error
  const members = [
    `"traceId":"${draft.traceId}"`,
    `"spanId":"${hexId(JSON.stringify(['span', session, seq]), 8)}"`,
    ...(parent ? [`"parentSpanId":"${parent.spanId}"`] : []),
    ...(parent?.state === undefined ? [] : [`"traceState":${JSON.stringify(parent.state)}`]),
    `"name":${JSON.stringify(draft.name)}`,
    `"kind":${draft.kind}`,
    `"startTimeUnixNano":"${draft.startNs}"`,
    `"endTimeUnixNano":"${endNs < draft.startNs ? draft.startNs : endNs}"`,
    `"attributes":[${[...draft.attributes, ...(outcome?.attributes ?? [])].join(',')}]`,
  ]
  if (error !== undefined) {
    const message = error === '' ? '' : `,"message":${JSON.stringify(error)}`
    members.push(`"status":{"code":${statusError}${message}}`)
  }
  return `{${members.join(',')}}`
}

function resourceOf(meta: MetaRecord | undefined): string[] {
  const label = meta?.label ?? ''
  const attributes = [text('service.name', label === '' ? 'mcp-server' : label)]
  if (meta?.wiretape) attributes.push(text('wiretape.session', meta.wiretape.session))
  return attributes
}

function transportAttributes({ transport, url }: Origin): string[] {
  if (transport === 'stdio') return [text('network.transport', 'pipe')]
  const attributes = [text('network.transport', 'tcp'), text('network.protocol.name', 'http')]
  const [, scheme = '', host, port] =
    /^([a-z]+):\/\/(?:[^/@]*@)?(\[[^\]]+\]|[^/?#:]+)(?::(\d+))?/i.exec(url ?? '') ?? []
  if (host === undefined) return attributes
  const number = port ?? (scheme.toLowerCase() === 'https' ? '443' : '80')
  return [
    ...attributes,
    text('server.address', host),
    `{"key":"server.port","value":{"intValue":"${number}"}}`,
  ]
}

function text(key: string, value: string): string {
  return `{"key":"${key}","value":{"stringValue":${JSON.stringify(value)}}}`
}

function bool(key: string, value: boolean): string {
  return `{"key":"${key}","value":{"boolValue":${value}}}`
}
