import {
  createJsonPieces,
  decodeString,
  incompleteDocument,
  JsonObject,
  kindAt,
  type JsonPiece,
} from '../../wire/index.js'
import type { TranscriptTransport } from '../http-transcript/entry.js'
import { discoveryOf } from './discovery.js'
import {
  membersOfStructure,
  optionalStringFault,
  structures,
  timestampFault,
  typeText,
  wrongType,
} from './envelope-types.js'
import { stampOf } from './message.js'
import type { Profile } from './profile.js'
import { faultOf, repeatedMember } from './unique-members.js'
import { refused, type SourceItem, type SourceOptions, type TranscriptSource } from './source.js'

/** `streamable-http` and `http-sse`: one JSON document with an entry per message. */
export function envelopeSource(
  transport: TranscriptTransport,
  profile: Profile = 'documented',
): TranscriptSource {
  return {
    isWhole: true,
    isEnveloped: true,
    items: (bytes, options) => new TranscriptReader(transport, profile, options).items(bytes),
  }
}

class TranscriptReader {
  readonly #transport: TranscriptTransport
  readonly #profile: Profile
  readonly #options: SourceOptions
  readonly #label: string
  readonly #isStrict: boolean
  readonly #seen = new Map<string, string>()
  #entries = 0

  constructor(transport: TranscriptTransport, profile: Profile, options: SourceOptions) {
    this.#transport = transport
    this.#profile = profile
    this.#options = options
    this.#label = `${transport} transcript`
    this.#isStrict = profile === 'strict'
  }

  async *items(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<SourceItem, void, undefined> {
    const { checked, note } = this.#options
    const pieces = createJsonPieces({
      marked: () => (checked ? undefined : note('starts with a byte order mark')),
      opens: (path, kind) => {
        if (path.length === 0) return !this.#isStrict || kind === 'object'
        // In an array, members are identified by position.
        const isEntries = path.length === 1 && (path[0] === 'entries' || path[0] === 3)
        if (!isEntries || kind !== 'array' || this.#seen.has('entries')) return false
        this.#seen.set('entries', '[')
        return true
      },
    })
    for await (const chunk of bytes) for (const piece of pieces.push(chunk)) yield* this.#item(piece)
    for (const piece of pieces.end()) yield* this.#item(piece)
    const said = this.#seen.get('transport') ?? 'null'
    const found = said === 'null' ? 'missing' : decodeString(said, 0, said.length)
    if (said === 'null' || found !== this.#transport) {
      throw refused(
        `${this.#label} transport must be "${this.#transport}", found ${JSON.stringify(found.slice(0, 80))}`,
      )
    }
    if (!checked && this.#entries === 0 && !this.#seen.has('entries')) note('has no entries')
  }

  #invalid(fault: string, at: string): Error {
    return refused([`invalid ${this.#label}`, `${fault} at ${at}`])
  }

  *#item(piece: JsonPiece): Generator<SourceItem> {
    const [first, index] = piece.path
    const at = index === undefined ? `line ${piece.line}` : `line ${piece.line} (entry ${Number(index) + 1})`
    if (piece.fault !== undefined) {
      throw this.#invalid(phraseOf(piece), at)
    }
    const { text } = piece
    const fault = this.#options.checked
      ? undefined
      : faultOf(this.#profile, text, piece.path.length, piece.line)
    if (fault !== undefined)
      throw refused([
        `invalid ${this.#label}`,
        `${fault}${index === undefined ? '' : ` (entry ${Number(index) + 1})`}`,
      ])
    if (first === undefined) throw this.#invalid(wrongType(text, 'TransportTranscript', this.#profile), at)
    const name = typeof first === 'number' ? structures.TransportTranscript[first] : first
    if (name === 'entries' && index !== undefined) {
      this.#entries += 1
      yield this.#entryOf(text, Number(index) + 1, at)
      return
    }
    if (name === undefined) return
    const isNamed = (structures.TransportTranscript as readonly string[]).includes(name)
    if (!isNamed && !this.#isStrict) return
    if (this.#seen.has(name))
      throw this.#invalid(this.#isStrict ? repeatedMember : `duplicate field \`${name}\``, at)
    this.#seen.set(name, isNamed ? text : '')
    if (name === 'entries') throw this.#invalid(`invalid type: ${typeText(text)}, expected a sequence`, at)
    if (name === 'transport') {
      const wrong = optionalStringFault(text)
      if (wrong !== undefined) throw this.#invalid(wrong, at)
    }
  }

  #entryOf(text: string, number: number, at: string): SourceItem {
    const members = membersOfStructure(text, 'TransportTranscriptEntry', this.#profile)
    if ('fault' in members) throw this.#invalid(members.fault, at)
    const wrongStamp = timestampFault(members.get('timestamp_ms'))
    if (wrongStamp !== undefined) throw this.#invalid(wrongStamp, at)
    const sse = members.get('sse')
    if (this.#isStrict && sse === 'null') throw this.#invalid('sse slot is present and null', at)
    const event = sse === undefined || sse === 'null' ? undefined : this.#eventOf(sse, at)
    const slots = ['request', 'response', 'sse'].filter(
      (slot) => (members.get(slot) ?? 'null') !== 'null' || (this.#isStrict && members.has(slot)),
    )
    if (slots.length !== 1) {
      const refusal = `${this.#label} entry ${number} must contain exactly one of request, response, or sse`
      return { number, messages: [], refusal }
    }
    const stamp = stampOf(members.get('timestamp_ms'))
    if (event) return messageOfEvent(event, number, stamp, this.#profile)
    const message = members.get(slots[0]!)!
    const discovery =
      slots[0] === 'response' && kindAt(message, 0) === 'object'
        ? discoveryOf({ context: members.get('transport_context'), headers: members.get('headers') })
        : undefined
    const side = slots[0] === 'request' ? 'client' : 'server'
    return { number, messages: [{ text: message, stamp, side }], discovery }
  }

  #eventOf(text: string, at: string): ReadonlyMap<string, string> {
    const members = membersOfStructure(text, 'TransportSseEnvelope', this.#profile)
    if ('fault' in members) throw this.#invalid(members.fault, at)
    for (const name of ['event', 'id']) {
      const wrong = optionalStringFault(members.get(name))
      if (wrong !== undefined) throw this.#invalid(wrong, at)
    }
    if (!members.has('data')) throw this.#invalid('missing field `data`', at)
    return members
  }
}

function phraseOf({ fault, path }: JsonPiece): string {
  if (fault?.startsWith('unexpected text after the value')) return 'trailing characters'
  if (fault === incompleteDocument) {
    return path.length === 0 ? 'EOF while parsing a value' : 'EOF while parsing a list or object'
  }
  return `${fault}: expected value`
}

/** Content of an event: a message, possibly as a string of JSON, or nothing for importers. */
function messageOfEvent(
  event: ReadonlyMap<string, string>,
  number: number,
  stamp: SourceItem['messages'][number]['stamp'],
  profile: Profile,
): SourceItem {
  const passed = (what: string, problem?: string): SourceItem => ({
    number,
    messages: [],
    passedOver: { what, isKnown: problem === undefined, ...(problem !== undefined && { problem }) },
  })
  const said = event.get('event') ?? 'null'
  const name = said === 'null' ? 'message' : decodeString(said, 0, said.length)
  if (name !== 'message') return passed('SSE events with a name other than message')
  let data = event.get('data')!
  while (kindAt(data, 0) === 'string') {
    const text = decodeString(data, 0, data.length)
    if (text.trim() === '') return passed('SSE events without data')
    const fault = faultOf(profile, text)
    if (fault?.startsWith(repeatedMember)) {
      return { number, messages: [], refusal: ['invalid SSE data payload', fault] }
    }
    if (fault !== undefined) return passed('SSE data that is not JSON', `SSE data is not JSON: ${fault}`)
    data = text.trim()
  }
  const kind = kindAt(data, 0)
  if (kind === 'array') {
    return passed('batches in SSE data', 'SSE data is a batch, which importers ignore')
  }
  if (kind !== 'object') return passed('SSE data that is not a message')
  const object = new JsonObject(data, 0)
  if (!['method', 'result', 'error', 'jsonrpc'].some((member) => object.has(member))) {
    return passed('SSE data that is not a message')
  }
  return { number, messages: [{ text: data, stamp, side: 'server' }] }
}
