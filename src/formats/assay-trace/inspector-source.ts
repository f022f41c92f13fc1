import {
  createJsonPieces,
  elementsOf,
  incompleteDocument,
  kindAt,
  readEnvelope,
  type JsonPiece,
} from '../../wire/index.js'
import { readBody, type BodyReading } from '../foreign/body.js'
import { isServersMethod } from '../foreign/directions.js'
import { elementOf, logMessage, type NetworkEntry, type ProtocolEntry } from '../inspector/element.js'
import { headerOf } from '../http-transcript/headers.js'
import type { Stamp } from './meaning.js'
import type { Profile } from './profile.js'
import { faultOf, repeatedMember } from './unique-members.js'
import { refused, type SourceItem, type SourceOptions, type TranscriptSource } from './source.js'
import type { SourceMessage } from './source-message.js'

/** `inspector`: a list of messages, `{"events": [messages]}`, or an export of MCP Inspector. */
export function inspectorSource(profile: Profile): TranscriptSource {
  return { isWhole: true, isEnveloped: false, items: (bytes, options) => items(profile, bytes, options) }
}

async function* items(
  profile: Profile,
  bytes: AsyncIterable<Uint8Array>,
  { checked, note }: SourceOptions,
): AsyncGenerator<SourceItem, void, undefined> {
  let root: 'array' | 'object' | 'other' | undefined
  let hasEvents = false
  /** Member names of the document. */
  const names = new Set<string | number>()
  const invalid = (fault: string): Error => refused(['invalid inspector JSON', fault])
  const pieces = createJsonPieces({
    marked: () => (checked ? undefined : note('starts with a byte order mark')),
    opens: (path, kind) => {
      if (path.length === 0) root = kind
      if (path.length !== 1 || path[0] !== 'events' || kind !== 'array') return path.length === 0
      if (profile === 'strict' && names.has('events')) return false
      names.add('events')
      return (hasEvents = true)
    },
  })
  function* take(piece: JsonPiece): Generator<SourceItem> {
    const { path, line } = piece
    const isElement = path.length === (root === 'array' ? 1 : 2)
    const number = Number(path.at(-1)) + 1
    const where = isElement ? ` (entry ${number})` : ''
    if (piece.fault !== undefined) {
      const isEmpty = piece.fault === incompleteDocument
      const phrase = isEmpty ? 'EOF while parsing a value' : `${piece.fault}: expected value`
      throw invalid(`${phrase} at line ${line}${where}`)
    }
    const fault = checked ? undefined : faultOf(profile, piece.text, path.length, line)
    if (fault !== undefined) throw invalid(`${fault}${where}`)
    if (profile === 'strict' && root === 'object' && path.length === 1) {
      if (names.has(path[0]!)) throw invalid(`${repeatedMember} at line ${line}`)
      names.add(path[0]!)
    }
    if (path.length === 0) root = 'other'
    if (isElement) yield itemOf(piece.text, number)
  }
  for await (const chunk of bytes) for (const piece of pieces.push(chunk)) yield* take(piece)
  for (const piece of pieces.end()) yield* take(piece)
  if (root === 'array' || hasEvents) return
  const why = 'no MCP message found: it is neither an array nor an object with an "events" array'
  if (profile === 'documented') throw refused(why)
  if (!checked) note(why)
}

function itemOf(text: string, number: number): SourceItem {
  if (kindAt(text, 0) !== 'object') return { number, messages: [{ text }] }
  const element = elementOf(text)
  switch (element.kind) {
    case 'message':
      return { number, messages: [{ text }] }
    case 'protocol': {
      const { time, message, response, durationMs } = element.entry
      if (isOfServersSide(element.entry)) {
        // Importers ignore directions: the response would be matched to a call with the same id.
        return {
          number,
          messages: [],
          passedOver: { what: 'requests from servers and their responses', isKnown: true },
        }
      }
      const sent = stampOf(time)
      const messages: SourceMessage[] = [{ text: message, stamp: sent }]
      if (response !== undefined) messages.push({ text: response, stamp: later(sent, durationMs) })
      return { number, messages }
    }
    case 'network':
      return networkItem(element.entry, number)
    case 'log':
      return { number, messages: [{ text: logMessage(element.params), stamp: stampOf(element.time) }] }
    case 'console':
      return { number, messages: [], passedOver: { what: 'stderr lines', isKnown: true } }
  }
}

/** Whether the message is a request of the server, or a response of the client. */
function isOfServersSide({ origin, message, direction }: ProtocolEntry): boolean {
  if (direction === 'response') return origin === 'client'
  const { method, id } = readEnvelope(message, 0)
  if (id === undefined || method === undefined) return false
  return origin === undefined ? isServersMethod(method) : origin === 'server'
}

function networkItem(entry: NetworkEntry, number: number): SourceItem {
  const sent = stampOf(entry.time)
  const messages: SourceMessage[] = []
  const request = readBody(entry.requestBody, 'application/json')
  const response = readBody(entry.responseBody, headerOf(entry.responseHeaders, 'content-type'))
  for (const text of textsOf(request)) messages.push({ text, stamp: sent })
  for (const text of textsOf(response)) messages.push({ text, stamp: later(sent, entry.durationMs) })
  if (messages.length > 0 && entry.category !== 'auth') return { number, messages }
  return { number, messages: [], passedOver: { what: 'HTTP exchanges without JSON-RPC', isKnown: true } }
}

/** The messages of a body; those of a batch one by one. */
function textsOf({ messages }: BodyReading): string[] {
  const texts = messages.flatMap(({ text }) =>
    kindAt(text, 0) === 'array'
      ? elementsOf(text, 0).map(({ start, end }) => text.slice(start, end))
      : [text],
  )
  return texts.filter((text) => kindAt(text, 0) === 'object')
}

function stampOf(time: string | undefined): number | undefined {
  const ms = Date.parse(time ?? '')
  return Number.isNaN(ms) || ms < 0 ? undefined : ms
}

function later(stamp: Stamp | undefined, durationMs: number): Stamp | undefined {
  return typeof stamp === 'number' ? stamp + Math.max(0, Math.round(durationMs)) : undefined
}
