import { randomUUID } from 'node:crypto'
import {
  canRelate,
  relatePart,
  Correlator,
  createRounds,
  isAnswer,
  isNamelessError,
  plainId,
  type Direction,
  type Envelope,
  type MessageIds,
  type MessageRecord,
  type OpenRequest,
  type Part,
  type PlainId,
  type Relations,
} from '../model/index.js'
import type { Redactor } from '../redaction/index.js'
import type { MessageLine } from '../tape/index.js'
import {
  createMirroredTools,
  mayHaveControls,
  idKey,
  isSpoken,
  readLine,
  type FrameText,
  type MirroredArgument,
} from '../wire/index.js'
import type { AskedHere, HttpExchange } from './http-exchange.js'
import { MessageRefs, type Ref } from './message-refs.js'
import type { Numbers } from './message-numbers.js'
import { base64, exactText, rewritten } from './message-text.js'
import { PlainBody } from './plain-body.js'

/** The fields of a message record that describe its frame. */
export type HttpFrame = Pick<MessageRecord, 'raw' | 'batch' | 'parts' | 'seq' | 'red' | 'bytes'>

/** The part of an exchange that its messages need. */
export type ExchangeTalk = Pick<HttpExchange, 'number' | 'conversation' | 'requests'>

/** A request with a changed id. */
export interface Renamed {
  readonly part: Part
  readonly direction: Direction
  readonly conversation: string
}

/** Reads bodies and events as JSON-RPC; numbers and relates the messages. */
export class HttpMessages {
  readonly #redactor: Redactor
  readonly #numbers: Numbers
  readonly #refs = new MessageRefs()
  readonly #correlator = new Correlator<Ref>(idKey)
  /** A client of 2026-07-28 has no session and uses any free connection, so a retry may come on any of them. */
  readonly #rounds = createRounds<Ref>()
  readonly #tools = createMirroredTools()
  readonly #body = new PlainBody()

  constructor(redactor: Redactor, numbers: Numbers) {
    this.#redactor = redactor
    this.#numbers = numbers
  }

  /** For the lines of `readPlain`. */
  get ids(): MessageIds {
    return this.#refs.ids
  }

  /** The response refused the HTTP request. Requests in it that are still open will get no response. */
  over({ requests, conversation }: ExchangeTalk): void {
    for (const { ref, id, answered } of requests.values())
      if (!answered) this.#correlator.giveUp({ ref, id, conversation, direction: 'client_to_server' })
  }

  openRequests(): OpenRequest[] {
    return this.#correlator.openRequests()
  }

  /** Arguments that calls of a tool repeat in headers; undefined when the tool was never listed. */
  toolHeaders(tool: string): readonly MirroredArgument[] | undefined {
    return this.#tools.of(tool)
  }

  /** A request is forwarded under another id. */
  rename(
    exchange: HttpExchange | undefined,
    { part, direction, conversation }: Renamed,
    newId: string,
  ): void {
    const { envelope } = part
    this.#correlator.rename({ ref: part.id!, envelope, direction, conversation }, newId)
    const own = envelope.id === undefined ? undefined : exchange?.requests.get(keyOf(envelope.id))
    if (own && canRelate(newId)) exchange?.requests.set(keyOf(newId), own)
  }

  /**
   * Undefined when a body or an event is not JSON-RPC.
   *
   * @param body a text, or bytes that may not be UTF-8
   * @param given id of the first message, if already assigned
   * @param isPlain whether a text has no control characters
   */
  read(
    exchange: ExchangeTalk,
    body: Uint8Array | string,
    direction: Direction,
    given?: string,
    isPlain = false,
  ): HttpFrame | undefined {
    const text = typeof body === 'string' ? body : exactText(body)
    if (text === undefined) return undefined
    const read = readLine(text, typeof body === 'string' ? !isPlain : mayHaveControls(body))
    if (!read || !isSpoken(read)) return undefined
    const { text: raw, batch } = read
    const parts = read.parts.map((part, i) =>
      this.#partOf(exchange, raw, part, direction, i === 0 ? given : undefined),
    )
    const first = this.#numbers.next
    this.#numbers.next += parts.length
    const redacted = this.#redactor.json(raw)
    if (redacted) return { ...rewritten(redacted, parts), seq: first, red: redacted.red }
    return { raw, batch, parts, seq: first, ...(raw !== text && { bytes: base64(Buffer.from(text)) }) }
  }

  /**
   * As `read`, for a message of the plain shape without secrets: its line on the tape, which contains the bytes. No
   * text, record or batch is made. Valid until the next call; undefined for any other message.
   */
  readPlain(exchange: ExchangeTalk, bytes: Uint8Array, direction: Direction): MessageLine | undefined {
    const body = this.#body
    if (!body.read(bytes, this.#redactor)) return undefined
    const ref = this.#refs.next()
    const { line, kind } = body
    line.direction = direction
    line.seq = this.#numbers.next
    line.id = ref
    line.answers = undefined
    line.late = false
    line.duplicateOf = undefined
    this.#numbers.next += 1
    if (kind === 'request') {
      const { id, method, subject } = body
      const { conversation } = exchange
      line.duplicateOf = this.#correlator.observePlainRequest(
        direction,
        id,
        ref,
        method,
        subject,
        conversation,
      )
      if (direction === 'client_to_server')
        exchange.requests.set(id, { ref, id, answered: false, modern: false, listsTools: false })
    } else if (kind === 'result') {
      const { answers, late } = this.#plainResult(exchange, bytes, body.id, direction)
      line.answers = answers
      line.late = late === true
    }
    return line
  }

  #plainResult(exchange: ExchangeTalk, bytes: Uint8Array, id: PlainId, direction: Direction): Relations<Ref> {
    const request = direction === 'server_to_client' ? exchange.requests.get(id) : undefined
    const relations = this.#correlator.observePlainResult(direction, id, exchange.conversation, request)
    if (request)
      this.#answered(exchange, request, id, plainResult, () => this.#tools.learn(exactText(bytes)!))
    return relations
  }

  /** @param learn reads the message as a list of tools */
  #answered(
    exchange: ExchangeTalk,
    request: AskedHere,
    key: PlainId | undefined,
    envelope: Envelope,
    learn: () => void,
  ): void {
    if (request.listsTools && envelope.kind === 'result') learn()
    if (!request.answered && (request.modern || envelope.resultType !== undefined))
      this.#rounds.answered('', roundKey(exchange, key), request.ref, envelope)
    request.answered = true
  }

  /** Counts a forwarded message that cannot be read, so that its number is not reused. */
  skip(): void {
    this.#numbers.next += 1
  }

  #partOf(
    exchange: ExchangeTalk,
    raw: string,
    part: FrameText['parts'][number],
    direction: Direction,
    id: string = randomUUID(),
  ): Part {
    const learn = (): void => this.#tools.learn(raw.slice(part.start, part.end))
    const relations = this.#relate(exchange, id, part.envelope, direction, learn)
    return relatePart({ id, ...part }, this.#refs.withIds(relations))
  }

  /** @param learn reads the message as a list of tools */
  #relate(
    exchange: ExchangeTalk,
    id: string,
    envelope: Envelope,
    direction: Direction,
    learn: () => void,
  ): Relations<Ref> {
    const { conversation } = exchange
    const key = envelope.id === undefined || !canRelate(envelope.id) ? undefined : keyOf(envelope.id)
    const isResponse = direction === 'server_to_client' && isAnswer(envelope)
    const request = isResponse ? this.#requestOf(exchange, envelope, key) : undefined
    const seen = this.#correlator.observe({
      ref: id,
      envelope,
      direction,
      conversation,
      ...(request && { request }),
    })
    const links = seen.links.filter(({ kind }) => kind !== 'round')
    if (request) this.#answered(exchange, request, key, envelope, learn)
    if (direction === 'client_to_server' && envelope.kind === 'request' && key !== undefined) {
      const modern = envelope.modern === true
      const listsTools = modern && envelope.method === 'tools/list'
      exchange.requests.set(key, { ref: id, id: key, answered: false, modern, listsTools })
      if (modern || envelope.requestState !== undefined || envelope.inputResponses) {
        const before = this.#rounds.asked('', roundKey(exchange, key), envelope)
        if (before !== undefined) links.push({ kind: 'round', to: before })
      }
    }
    return { ...seen, links }
  }

  /** Servers of 2025 answer an unknown method, such as `server/discover`, with an error without an id. */
  #requestOf(
    { requests }: ExchangeTalk,
    envelope: Envelope,
    key: PlainId | undefined,
  ): AskedHere | undefined {
    if (!isNamelessError(envelope)) return key === undefined ? undefined : requests.get(key)
    const { only } = requests
    return only && !only.answered ? only : undefined
  }
}

const plainResult: Envelope = { kind: 'result' }

function keyOf(id: string): PlainId {
  return plainId(idKey(id))
}

function roundKey({ number }: ExchangeTalk, key: PlainId | undefined): string {
  return `${number} ${key}`
}
