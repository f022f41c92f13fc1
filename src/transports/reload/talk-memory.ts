import { createHash } from 'node:crypto'
import { isAnswer, type Envelope } from '../../model/index.js'
import { idKey, JsonObject, type Message } from '../../wire/index.js'

/** A request that waits for its answer. */
export interface OpenRequest {
  /** Exact JSON text. */
  readonly id: string
  readonly method: string
  /** Exact JSON text; undefined where there are none. */
  readonly params: string | undefined
}

/** A page of a list that the client has. */
export interface Listing extends Omit<OpenRequest, 'id'> {
  /** Of the exact text of its result. */
  readonly digest: string
}

/** Pages that are asked for again; a server with more of them is only said to have changed. */
const mostListings = 100
const mostSubscriptions = 1_000

/** Lists, and what announces that they changed. */
export const listNotices: Readonly<Record<string, string>> = {
  'tools/list': 'notifications/tools/list_changed',
  'prompts/list': 'notifications/prompts/list_changed',
  'resources/list': 'notifications/resources/list_changed',
  'resources/templates/list': 'notifications/resources/list_changed',
}

/** Everything of a talk that a new process of its server needs to be told, and what is open in it. */
export class TalkMemory {
  /** Requests of the client. */
  readonly open = new Map<string, OpenRequest>()
  /** Exact ids of the requests of the server, by their keys. */
  readonly asked = new Map<string, string>()
  readonly listings = new Map<string, Listing>()
  /** Messages that subscribe to a resource, by its URI. */
  readonly subscriptions = new Map<string, string>()
  /** The last message that set the level of logging. */
  level: string | undefined
  /** The `initialize` of the client; undefined in the era that has none. */
  initialize: string | undefined
  /** Exact text of the result that the client got for it. */
  agreed: string | undefined
  /** The notification of the client that it has that. */
  initialized: string | undefined

  /** The client says something. */
  said({ text, envelope }: Message): void {
    const { id, method, kind } = envelope
    if (isAnswer(envelope)) {
      if (id !== undefined) this.asked.delete(idKey(id))
    } else if (kind === 'request' && id !== undefined && method !== undefined) {
      this.open.set(idKey(id), { id, method, params: new JsonObject(text, 0).raw('params') })
      this.#remember(method, text, envelope)
    } else if (method === 'notifications/initialized') this.initialized = text
    else if (envelope.cancels !== undefined) this.open.delete(idKey(envelope.cancels))
  }

  #remember(method: string, text: string, { subject }: Envelope): void {
    if (method === 'initialize') this.initialize = text
    else if (method === 'logging/setLevel') this.level = text
    else if (method === 'resources/unsubscribe' && subject !== undefined) this.subscriptions.delete(subject)
    else if (method === 'resources/subscribe' && subject !== undefined)
      if (this.subscriptions.size < mostSubscriptions) this.subscriptions.set(subject, text)
  }

  /** The server says something. */
  heard({ text, envelope }: Message): void {
    const { id, kind } = envelope
    if (id === undefined) return
    if (kind === 'request') this.asked.set(idKey(id), id)
    if (!isAnswer(envelope)) return
    const request = this.open.get(idKey(id))
    if (!request) return
    this.open.delete(idKey(id))
    const result = new JsonObject(text, 0).raw('result')
    if (result === undefined) return
    if (request.method === 'initialize') this.agreed = result
    else if (request.method in listNotices) this.#list(request, result)
  }

  /** Pages are told apart by their cursors; a progress token belongs to one request. */
  #list({ method, params: given }: OpenRequest, result: string): void {
    const cursor = given === undefined ? undefined : new JsonObject(given, 0).raw('cursor')
    const params = cursor === undefined ? undefined : `{"cursor":${cursor}}`
    const key = `${method} ${params ?? ''}`
    if (this.listings.size < mostListings || this.listings.has(key))
      this.listings.set(key, { method, params, digest: digestOf(result) })
  }
}

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/**
 * Where a new process does not offer what the client was told, in sentences.
 *
 * @param before exact texts of two results of `initialize`
 */
export function misfits(before: string, after: string): string[] {
  const [old, now] = [new JsonObject(before, 0), new JsonObject(after, 0)]
  const was = old.string('protocolVersion')
  const is = now.string('protocolVersion')
  const version = was === is ? [] : [`its protocol version was ${was ?? 'missing'} and is ${is ?? 'missing'}`]
  const gone = missing(old.object('capabilities'), now.object('capabilities'), '')
  return [...version, ...gone.map((name) => `it no longer has the capability ${name}`)]
}

/** Names of capabilities are short; a deeper tree is no capability. */
const mostDeep = 4

function missing(before: JsonObject | undefined, after: JsonObject | undefined, path: string): string[] {
  if (!before || path.split('.').length > mostDeep) return []
  return before.others().flatMap(([name, text]) => {
    if (text === 'false' || text === 'null') return []
    const own = `${path}${name}`
    if (!after?.has(name) || after.raw(name) === 'false') return [own]
    return missing(before.object(name), after.object(name), `${own}.`)
  })
}
