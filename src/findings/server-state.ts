import { eraOf } from '../model/index.js'
import { at, isMap, listAt, textAt, type Json, type JsonMap } from './json.js'
import type { Message } from './message.js'

/** The kinds of offers: the method that lists them, the member with the list, the member with each name. */
export const offerKinds = [
  { kind: 'tool', method: 'tools/list', member: 'tools', name: 'name' },
  { kind: 'prompt', method: 'prompts/list', member: 'prompts', name: 'name' },
  { kind: 'resource', method: 'resources/list', member: 'resources', name: 'uri' },
  { kind: 'template', method: 'resources/templates/list', member: 'resourceTemplates', name: 'uriTemplate' },
] as const
export type OfferKind = (typeof offerKinds)[number]['kind']

/** A definition from a server. */
export interface Offer {
  readonly kind: OfferKind
  readonly name: string
  readonly value: JsonMap
  /** JSON Pointer into the response that lists it. */
  readonly at: string
}

/** State of one conversation. */
export interface Conversation {
  /** Number of messages so far. */
  messages: number
  /** Row of the `initialize` request; -1 before it. */
  initialize: number
  /** Whether the server responded to it with a result. */
  initialized: boolean
  /** Whether the client then sent `notifications/initialized`. */
  isReady: boolean
  isModern: boolean
  version?: string
  clientCapabilities?: Json
  serverCapabilities?: Json
}

const mostConversations = 10_000
/** Limits of stored offers, and of the characters of their definitions. */
const mostOffers = 20_000
const mostOfferText = 16 << 20

/** Declarations of a server so far: name, offers, conversations. */
export class ServerState {
  name: string | undefined
  readonly transport: string
  readonly #offers = new Map<string, { offer: Offer; row: number; text: string }>()
  readonly #conversations = new Map<string, Conversation>()
  #text = 0

  constructor(transport: string, label: string | undefined) {
    this.transport = transport
    this.name = label
  }

  offer(
    kind: OfferKind,
    name: string,
  ): { readonly offer: Offer; readonly row: number; readonly text: string } | undefined {
    return this.#offers.get(`${kind} ${name}`)
  }

  *offers(kind?: OfferKind): Generator<Offer> {
    for (const { offer } of this.#offers.values()) if (kind === undefined || offer.kind === kind) yield offer
  }

  conversation(message: Message): Conversation {
    const key = message.record.conversation ?? ''
    let found = this.#conversations.get(key)
    if (!found) {
      found = { messages: 0, initialize: -1, initialized: false, isReady: false, isModern: false }
      this.#conversations.set(key, found)
      if (this.#conversations.size > mostConversations)
        this.#conversations.delete(this.#conversations.keys().next().value!)
    }
    return found
  }

  /** The server process was replaced: the offers of the previous one no longer apply. */
  restarted(): void {
    this.#offers.clear()
    this.#text = 0
  }

  /** Takes a message after the rules have seen it. */
  learn(message: Message): void {
    const talk = this.conversation(message)
    talk.messages += 1
    const { envelope } = message.part
    if (envelope.modern) talk.isModern = true
    if (message.fromServer && envelope.peer) this.name = envelope.peer.name
    if (message.asks('notifications/initialized')) talk.isReady = true
    if (message.asks('initialize')) {
      talk.initialize = message.row
      talk.clientCapabilities = at(message.params, 'capabilities') ?? {}
    } else if (message.answers('initialize') && envelope.kind === 'result') {
      talk.initialized = true
      talk.serverCapabilities = at(message.result, 'capabilities') ?? {}
      const version = textAt(message.result, 'protocolVersion')
      if (version !== undefined) {
        talk.version = version
        talk.isModern = eraOf(version) === 'modern'
      }
    } else if (envelope.modern && envelope.protocolVersion !== undefined)
      talk.version = envelope.protocolVersion
    for (const offer of offersIn(message)) this.#keep(offer, message.row)
  }

  #keep(offer: Offer, row: number): void {
    const key = `${offer.kind} ${offer.name}`
    const text = JSON.stringify(offer.value)
    const known = this.#offers.get(key)
    if (!known && (this.#offers.size >= mostOffers || this.#text + text.length > mostOfferText)) return
    this.#text += text.length - (known?.text.length ?? 0)
    this.#offers.set(key, { offer, row, text })
  }
}

/** The offers in a response; empty for other messages. */
export function offersIn(message: Message): Offer[] {
  if (!message.isAnswer || !message.fromServer || message.part.envelope.kind !== 'result') return []
  const list = offerKinds.find(({ method }) => message.asked?.method === method)
  if (!list) return []
  return listAt(message.result, list.member).flatMap((value, i) => {
    const name = textAt(value, list.name)
    return isMap(value) && name !== undefined
      ? [{ kind: list.kind, name, value, at: `/result/${list.member}/${i}` }]
      : []
  })
}
