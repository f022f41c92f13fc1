import { createHash } from 'node:crypto'
import { isAnswer, type Envelope } from '../../model/index.js'
import { idKey, JsonObject, type Message } from '../../wire/index.js'

/** A request without a response so far. */
export interface OpenRequest {
  /** Exact JSON text. */
  readonly id: string
  readonly method: string
  /** Exact JSON text; undefined when the request has none. */
  readonly params: string | undefined
}

/** A page of a list that the client has received. */
export interface Listing extends Omit<OpenRequest, 'id'> {
  /** Digest of the exact text of the result. */
  readonly digest: string
}

/** Pages to request again. For more pages, the client only gets a notification that the list changed. */
const mostListings = 100
const mostSubscriptions = 1_000

/** List methods and the notifications of their changes. */
export const listNotices: Readonly<Record<string, string>> = {
  'tools/list': 'notifications/tools/list_changed',
  'prompts/list': 'notifications/prompts/list_changed',
  'resources/list': 'notifications/resources/list_changed',
  'resources/templates/list': 'notifications/resources/list_changed',
}

/** The state of a session that a new process needs, and the open requests. */
export class TalkMemory {
  /** Requests of the client, by key of their id. */
  readonly open = new Map<string, OpenRequest>()
  /** Exact ids of the server's requests, by their keys. */
  readonly asked = new Map<string, string>()
  readonly listings = new Map<string, Listing>()
  /** Messages that subscribe to a resource, by its URI. */
  readonly subscriptions = new Map<string, string>()
  /** The last message that set the log level. */
  level: string | undefined
  /** The client's `initialize`; undefined in the modern era, which has none. */
  initialize: string | undefined
  /** Exact text of the `initialize` result that the client received. */
  agreed: string | undefined
  /** The client's `notifications/initialized`. */
  initialized: string | undefined

  /** A message from the client. */
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

  /** A message from the server. */
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

  /** Pages are distinguished by their cursors. A progress token belongs to one request and is left out. */
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
 * The promises to the client that a new process does not keep, as sentences.
 *
 * @param before exact text of the old `initialize` result; `after` is the new one
 */
export function misfits(before: string, after: string): string[] {
  const [old, now] = [new JsonObject(before, 0), new JsonObject(after, 0)]
  const was = old.string('protocolVersion')
  const is = now.string('protocolVersion')
  const version = was === is ? [] : [`its protocol version was ${was ?? 'missing'} and is ${is ?? 'missing'}`]
  const gone = missing(old.object('capabilities'), now.object('capabilities'), '')
  return [...version, ...gone.map((name) => `it no longer has the capability ${name}`)]
}

/** Capability names are not nested deeper than this. */
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
