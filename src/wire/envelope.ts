import type { Envelope, MessageKind, Draft } from '../model/index.js'
import { decodeString } from './json-strings.js'
import { seekMembers, type Found, type Sought } from './json-seek.js'
import { kindAt, memberNames, memberOf, type Member } from './json-text.js'

const meta = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
  relatedTask: 'io.modelcontextprotocol/related-task',
} as const

const peer: Sought = seekable({ name: null, version: null })
const metaMembers: Sought = seekable({
  progressToken: null,
  [meta.protocolVersion]: null,
  [meta.clientInfo]: peer,
  [meta.serverInfo]: peer,
  [meta.subscriptionId]: null,
  [meta.relatedTask]: seekable({ taskId: null }),
})

/** The members that an envelope needs; all others are skipped. */
export const envelopeMembers: Sought = seekable({
  jsonrpc: null,
  id: null,
  method: null,
  params: seekable({
    _meta: metaMembers,
    arguments: null,
    clientInfo: peer,
    inputResponses: null,
    name: null,
    progressToken: null,
    protocolVersion: null,
    ref: seekable({ name: null, uri: null }),
    requestId: null,
    requestState: null,
    status: null,
    taskId: null,
    uri: null,
  }),
  result: seekable({
    _meta: metaMembers,
    action: null,
    content: null,
    inputRequests: null,
    isError: null,
    protocolVersion: null,
    requestState: null,
    result: seekable({ isError: null }),
    resultType: null,
    role: null,
    roots: null,
    serverInfo: peer,
    status: null,
    task: seekable({ status: null, taskId: null }),
    taskId: null,
  }),
  error: seekable({ code: null, message: null }),
})

function seekable(members: Readonly<Record<string, Sought | null>>): Sought {
  return new Map(Object.entries(members))
}

/** Names of inputs in a multi round-trip that are remembered. */
const mostInputs = 256

/**
 * The JSON-RPC reading of the value at `start` in a checked JSON text. Reads only spans; payloads are never
 * parsed. The last of repeated members counts, as in JSON.parse. Facts of MCP: specification versions
 * 2024-11-05 to 2026-07-28.
 */
export function readEnvelope(text: string, start: number): Envelope {
  if (kindAt(text, start) !== 'object') return { kind: 'invalid', problem: 'not a JSON object' }
  return envelopeOf(text, seekMembers(text, start, envelopeMembers))
}

/**
 * Like `readEnvelope`, for a message whose members have been found already.
 *
 * @param members the members found for `envelopeMembers`
 */
export function envelopeOf(text: string, members: readonly Found[]): Envelope {
  const id = memberOf(members, 'id')
  const method = stringOf(text, memberOf(members, 'method'))
  const result = memberOf(members, 'result')
  const error = memberOf(members, 'error')
  const { kind, problem } = classify(text, members, { id, method, result, error })

  const envelope: Draft<Envelope> = { kind }
  if (problem !== undefined) envelope.problem = problem
  if (id) envelope.id = text.slice(id.start, id.end)
  if (method !== undefined) envelope.method = method
  const params = memberOf(members, 'params')
  if (isOdd(text, params) || (kind === 'result' && !result?.members)) envelope.odd = true
  if (kind === 'request' || kind === 'notification') {
    if (params?.members) readParams(envelope, text, params.members)
  } else if (kind === 'result' && result?.members) {
    readResult(envelope, text, result.members)
  } else if (kind === 'error' && error?.members) {
    readError(envelope, text, error.members)
  }
  return envelope
}

function isOdd(text: string, params: Found | undefined): boolean {
  return params !== undefined && params.members === undefined && kindAt(text, params.start) !== 'null'
}

interface Shape {
  readonly id: Found | undefined
  readonly method: string | undefined
  readonly result: Found | undefined
  readonly error: Found | undefined
}

function classify(
  text: string,
  members: readonly Found[],
  shape: Shape,
): { kind: MessageKind; problem?: string } {
  const invalid = (problem: string): { kind: MessageKind; problem: string } => ({ kind: 'invalid', problem })
  const { id, method, result, error } = shape
  if (stringOf(text, memberOf(members, 'jsonrpc')) !== '2.0') return invalid('"jsonrpc" is not "2.0"')
  const idKind = id && kindAt(text, id.start)
  if (method !== undefined) {
    if (result || error) return invalid('has both "method" and a result or error')
    if (idKind === undefined) return { kind: 'notification' }
    if (idKind === 'string' || idKind === 'number') return { kind: 'request' }
    return invalid(`"id" of a request is ${idKind}, not a string or number`)
  }
  if (memberOf(members, 'method')) return invalid('"method" is not a string')
  if (result && error) return invalid('has both "result" and "error"')
  if (result) {
    if (idKind === 'string' || idKind === 'number') return { kind: 'result' }
    return invalid('a result without a string or number "id"')
  }
  if (error) {
    if (kindAt(text, error.start) !== 'object') return invalid('"error" is not an object')
    // JSON-RPC 2.0, section 5: the id is null when the id of the request could not be read. SDKs also omit it.
    if (idKind === undefined || idKind === 'null' || idKind === 'string' || idKind === 'number')
      return { kind: 'error' }
    return invalid(`"id" of an error is ${idKind}`)
  }
  return invalid('has no "method", "result" or "error"')
}

function readParams(envelope: Draft<Envelope>, text: string, params: readonly Found[]): void {
  const { method } = envelope
  if (method === 'notifications/progress')
    setText(envelope, 'progressToken', text, memberOf(params, 'progressToken'))
  if (method === 'notifications/cancelled') setText(envelope, 'cancels', text, memberOf(params, 'requestId'))
  const task = stringOf(text, memberOf(params, 'taskId'))
  if (task !== undefined) {
    envelope.taskId = task
    setTaskStatus(envelope, text, params)
  }
  const subject = subjectOf(text, params) ?? task
  if (subject !== undefined) envelope.subject = subject
  if (method === 'initialize') {
    setString(envelope, 'protocolVersion', text, memberOf(params, 'protocolVersion'))
    setPeer(envelope, text, memberOf(params, 'clientInfo'))
  }
  const args = memberOf(params, 'arguments')
  if (args) envelope.argumentsText = text.slice(args.start, args.end)
  setString(envelope, 'requestState', text, memberOf(params, 'requestState'))
  const inputs = memberOf(params, 'inputResponses')
  if (inputs) envelope.inputResponses = namesOf(text, inputs)
  readMeta(envelope, text, memberOf(params, '_meta'))
}

/** Tool or prompt name, resource URI, or the reference of a completion. */
function subjectOf(text: string, params: readonly Found[]): string | undefined {
  const own = stringOf(text, memberOf(params, 'name')) ?? stringOf(text, memberOf(params, 'uri'))
  if (own !== undefined) return own
  const ref = memberOf(params, 'ref')
  if (!ref?.members) return undefined
  return stringOf(text, memberOf(ref.members, 'name')) ?? stringOf(text, memberOf(ref.members, 'uri'))
}

function readResult(envelope: Draft<Envelope>, text: string, result: readonly Found[]): void {
  if (isErrorIn(text, result)) envelope.toolError = true
  setString(envelope, 'resultType', text, memberOf(result, 'resultType'))
  setString(envelope, 'requestState', text, memberOf(result, 'requestState'))
  const inputs = memberOf(result, 'inputRequests')
  if (inputs) envelope.inputRequests = namesOf(text, inputs)
  // An InitializeResult must have both; in a custom result, a version alone may mean anything.
  const serverInfo = memberOf(result, 'serverInfo')
  if (serverInfo) {
    setString(envelope, 'protocolVersion', text, memberOf(result, 'protocolVersion'))
    setPeer(envelope, text, serverInfo)
  }
  const task = memberOf(result, 'task')
  const created = task?.members ?? result
  if (task || envelope.resultType === 'task') {
    setString(envelope, 'taskId', text, memberOf(created, 'taskId'))
    if (envelope.taskId !== undefined) envelope.createsTask = true
  }
  if (memberOf(created, 'taskId')) setTaskStatus(envelope, text, created)
  const answers = answersMethod((name) => memberOf(result, name) !== undefined)
  if (answers !== undefined) envelope.answersMethod = answers
  readMeta(envelope, text, memberOf(result, '_meta'))
}

function setTaskStatus(envelope: Draft<Envelope>, text: string, task: readonly Found[]): void {
  setString(envelope, 'taskStatus', text, memberOf(task, 'status'))
  if (isErrorIn(text, memberOf(task, 'result')?.members ?? [])) envelope.taskFailed = true
}

function isErrorIn(text: string, result: readonly Found[]): boolean {
  const isError = memberOf(result, 'isError')
  return isError !== undefined && text.startsWith('true', isError.start)
}

/**
 * The method of the server's request to which a result with these members responds: `ListRootsResult` has
 * roots, `CreateMessageResult` a role and content, `ElicitResult` an action. No result of a server has these.
 */
export function answersMethod(has: (member: string) => boolean): string | undefined {
  if (has('roots')) return 'roots/list'
  if (has('role') && has('content')) return 'sampling/createMessage'
  return has('action') ? 'elicitation/create' : undefined
}

function readError(envelope: Draft<Envelope>, text: string, error: readonly Found[]): void {
  setText(envelope, 'errorCode', text, memberOf(error, 'code'))
  setString(envelope, 'errorMessage', text, memberOf(error, 'message'))
}

function readMeta(envelope: Draft<Envelope>, text: string, member: Found | undefined): void {
  const members = member?.members
  if (!members || members.length === 0) return
  if (envelope.kind === 'request')
    setText(envelope, 'progressToken', text, memberOf(members, 'progressToken'))
  setText(envelope, 'subscriptionId', text, memberOf(members, meta.subscriptionId))
  const version = stringOf(text, memberOf(members, meta.protocolVersion))
  if (version !== undefined) {
    envelope.protocolVersion = version
    envelope.modern = true
  }
  setPeer(envelope, text, memberOf(members, meta.clientInfo) ?? memberOf(members, meta.serverInfo))
  const related = memberOf(members, meta.relatedTask)
  if (related?.members && envelope.taskId === undefined)
    setString(envelope, 'taskId', text, memberOf(related.members, 'taskId'))
}

function namesOf(text: string, member: Member): readonly string[] {
  return kindAt(text, member.start) === 'object' ? memberNames(text, member.start, mostInputs) : []
}

function stringOf(text: string, member: Member | undefined): string | undefined {
  if (!member || text.charCodeAt(member.start) !== 0x22) return undefined
  return decodeString(text, member.start, member.end)
}

function setString(
  envelope: Draft<Envelope>,
  key: 'protocolVersion' | 'requestState' | 'resultType' | 'taskId' | 'taskStatus' | 'errorMessage',
  text: string,
  member: Member | undefined,
): void {
  const value = stringOf(text, member)
  if (value !== undefined) envelope[key] = value
}

/** Sets the exact text of a string or number; other kinds are not valid here. */
function setText(
  envelope: Draft<Envelope>,
  key: 'progressToken' | 'cancels' | 'subscriptionId' | 'errorCode',
  text: string,
  member: Member | undefined,
): void {
  if (!member) return
  const kind = kindAt(text, member.start)
  if (kind === 'string' || kind === 'number') envelope[key] = text.slice(member.start, member.end)
}

function setPeer(envelope: Draft<Envelope>, text: string, member: Found | undefined): void {
  const members = member?.members
  if (!members) return
  const name = stringOf(text, memberOf(members, 'name'))
  if (name !== undefined)
    envelope.peer = { name, version: stringOf(text, memberOf(members, 'version')) ?? '' }
}
