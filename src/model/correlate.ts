import type { Draft } from './draft.js'
import { isAnswer, isNamelessError, opposite, type Direction, type Envelope } from './envelope.js'
import type { LinkKind, Part } from './record.js'
import { RequestKeys, type Key, type PlainId } from './request-key.js'
import { createRecent, type Recent } from './recent.js'
import { createRounds } from './rounds.js'
import { canRelate, hasLongId, ownText, shortText, withoutLongIds } from './short-ids.js'

/** A message for the correlator. `R` is the caller's reference to messages: a UUID, a row number. */
export interface Observation<R> {
  readonly ref: R
  readonly envelope: Envelope
  readonly direction: Direction
  /** Ids are unique within one conversation only. */
  readonly conversation: string
  /** The request that this message answers, where the transport itself identifies it, as HTTP does. */
  readonly request?: {
    readonly ref: R
    readonly answered: boolean
    /** For an error that names no request. */
    readonly id?: PlainId
  }
}

/** Relations of a message that are certain at the moment it is seen. */
export interface Relations<R> {
  /** The request that this response belongs to. */
  readonly answers?: R
  /** The request had already been answered. */
  readonly late?: true
  /** A request of the same side that is still open under this id: their responses cannot be told apart. */
  readonly duplicateOf?: R
  readonly links: readonly { readonly kind: LinkKind; readonly to: R }[]
}

/**
 * Adds the relations of a message to its part of the record, in the form that tapes use.
 *
 * @returns the same part
 */
export function relatePart(
  part: Draft<Part>,
  { answers, late, duplicateOf, links }: Relations<string>,
): Part {
  if (answers !== undefined) part.correlatedId = answers
  if (late) part.late = true
  if (duplicateOf !== undefined) part.duplicateOf = duplicateOf
  if (links.length > 0) part.links = links
  return part
}

/** A request without a response. */
export interface OpenRequest {
  /** The result of `requestKey`. */
  readonly key: string
  readonly method: string | null
  /** Its subject: a tool, a prompt, a resource. */
  readonly name: string | null
}

/** Maximum number of open requests remembered. */
const rememberedOpen = 32_768
/** Maximum number of answered requests, tokens, tasks and subscriptions, each: references come soon. */
const remembered = 8_192
/** Peers choose the length of ids; this much text of them is remembered, each. */
const rememberedChars = 4 * 1024 * 1024
const limits = { entries: remembered, chars: rememberedChars }
/** Names that the requests of one id can release; only a flood of duplicates has more. */
const longestNames = 64

/** A name by which later messages refer to a request: a progress token, a listen id, a task id. */
interface Name<R> {
  readonly ref: R
  /** Open requests that gave this name. */
  users: number
  /** Two open requests gave this name: a reference to it is ambiguous. */
  ambiguous: boolean
}

interface Open<R> {
  readonly ref: R
  readonly method: string | null
  readonly name: string | null
  /** Names given by the requests under this id, released when they are answered. */
  names: Name<R>[] | undefined
  /** The other key of this request: the id under which it was forwarded. */
  alias: Key | undefined
  own: Key | undefined
  /** Requests of one side that are open under one id. With more than one, no match is certain. */
  waiting: number
  ambiguous: boolean
}

type Links<R> = { kind: LinkKind; to: R }[]

/** Takes messages in order and finds how they are related. */
export class Correlator<R> {
  readonly #idKey: (idText: string) => string
  readonly #withLinks: boolean
  readonly #keys = new RequestKeys()
  readonly #open = createRecent<Open<R>, Key>({
    ...limits,
    entries: rememberedOpen,
    sizeOf: ({ name, method }) => (name?.length ?? 0) + (method?.length ?? 0),
  })
  readonly #answered = createRecent<R, Key>(limits)
  readonly #tokens = createRecent<Name<R>, Key>(limits)
  readonly #tasks = createRecent<Name<R>, Key>(limits)
  readonly #subscriptions = createRecent<Name<R>, Key>(limits)
  readonly #rounds = createRounds<R>()

  /**
   * Ids are typed and directed: `1` is not `"1"`, and a server's own request 1 never receives the response to
   * the client's request 1. The first response matches, later ones are late. Only certain links are made; a
   * reference that two requests could claim stays unlinked.
   *
   * @param idKey canonical form of an id's exact JSON text: equal for equal ids, different for `1` and `"1"`
   * @param options.links also find links other than responses @default true
   */
  constructor(
    idKey: (idText: string) => string,
    { links: withLinks = true }: { readonly links?: boolean } = {},
  ) {
    this.#idKey = idKey
    this.#withLinks = withLinks
  }

  /** Unanswered requests, under the ids that responses will use. */
  openRequests(): OpenRequest[] {
    return [...this.#open.entries()].map(([key, { method, name }]) => ({
      key: this.#keys.textOf(key),
      method,
      name,
    }))
  }

  /**
   * As `observe`, for a request without references and names. Allocates only what must be remembered. Keeps the texts.
   *
   * @returns `duplicateOf`
   */
  observePlainRequest(
    direction: Direction,
    id: PlainId,
    ref: R,
    method: string,
    subject: string | null,
    conversation = '',
  ): R | undefined {
    const key = this.#keys.of(conversation, direction, id)
    return this.#begin(key, ref, shortText(method), shortText(subject))?.ref
  }

  /** As `observePlainRequest`, for a result. @param request as `Observation.request` */
  observePlainResult(
    direction: Direction,
    id: PlainId,
    conversation = '',
    request?: Observation<R>['request'],
  ): Relations<R> {
    const relations: Draft<Relations<R>> = { links: noLinks }
    const key = this.#keys.of(conversation, opposite(direction), id)
    this.#answer(key, plainResult, direction, conversation, request, relations)
    return relations
  }

  /** An observed request was forwarded under another id. Responses may use either id. */
  rename(
    asked: Pick<Observation<R>, 'ref' | 'envelope' | 'direction' | 'conversation'>,
    newId: string,
  ): void {
    const { ref, envelope, direction, conversation } = asked
    if (hasLongId(envelope) || !canRelate(newId)) return
    const own = this.#keys.of(conversation, direction, this.#idKey(envelope.id ?? ''))
    const alias = this.#keys.of(conversation, direction, this.#idKey(newId))
    const request = this.#open.get(own)
    // Another open request of that id would be mistaken for this one.
    if (request?.ref !== ref || request.ambiguous || this.#open.get(alias)) return
    request.own = own
    request.alias = alias
    this.#open.set(alias, request)
    const listen = this.#subscriptions.get(own)
    if (listen?.ref === ref) this.#subscriptions.set(alias, listen)
  }

  /** The transport reports that a request can no longer be answered: its id may be used again. */
  giveUp(asked: Pick<Observation<R>, 'ref' | 'direction' | 'conversation'> & { readonly id: PlainId }): void {
    const { ref, direction, conversation, id } = asked
    const key = this.#keys.of(conversation, direction, id)
    const request = this.#open.get(key)
    if (request?.ref !== ref || request.waiting > 1) return
    this.#close(key, request)
    for (const name of request.names ?? []) name.users -= 1
    // A response that still arrives can then be matched.
    this.#answered.set(key, ref)
  }

  observe(seen: Observation<R>): Relations<R> {
    const message = hasLongId(seen.envelope) ? { ...seen, envelope: withoutLongIds(seen.envelope) } : seen
    const links: Links<R> = []
    // Member by member, for speed: recordings hold millions of links.
    const relations: Draft<Relations<R>> = { links }
    if (message.envelope.kind === 'request') {
      const duplicateOf = this.#observeRequest(message, links)
      if (duplicateOf !== undefined) relations.duplicateOf = duplicateOf
    } else if (isAnswer(message.envelope)) this.#observeAnswer(message, relations)
    if (this.#withLinks) this.#linkOthers(message, relations.answers, links)
    return relations
  }

  #give(names: Recent<Name<R>, Key>, key: Key, ref: R): Name<R> {
    const before = names.get(key)
    if (before && before.users > 0) {
      before.users += 1
      before.ambiguous = true
      return before
    }
    const name: Name<R> = { ref, users: 1, ambiguous: false }
    names.set(key, name)
    return name
  }

  #observeRequest(message: Observation<R>, links: Links<R>): R | undefined {
    const { envelope, direction, conversation, ref } = message
    if (envelope.id === undefined) return undefined
    const key = this.#keys.of(conversation, direction, this.#idKey(envelope.id))
    const before = this.#begin(key, ref, ownText(envelope.method), ownText(envelope.subject))
    const note = (name: Name<R>): void => {
      const request = before ?? this.#open.get(key)
      if (!request) return
      request.names ??= []
      if (request.names.length < longestNames) request.names.push(name)
    }
    if (this.#withLinks && envelope.progressToken !== undefined)
      note(
        this.#give(
          this.#tokens,
          this.#keys.of(conversation, direction, this.#idKey(envelope.progressToken)),
          ref,
        ),
      )
    if (this.#withLinks && envelope.method === 'subscriptions/listen')
      note(this.#give(this.#subscriptions, key, ref))
    const round = this.#withLinks ? this.#rounds.asked(conversation, key, envelope) : undefined
    if (round !== undefined) links.push({ kind: 'round', to: round })
    return before?.ref
  }

  /** Returns the request that is already open under the same id. */
  #begin(key: Key, ref: R, method: string | null, name: string | null): Open<R> | undefined {
    const before = this.#open.get(key)
    this.#answered.delete(key)
    if (before) {
      before.waiting += 1
      before.ambiguous = true
    } else {
      this.#open.set(key, {
        ref,
        method,
        name,
        names: undefined,
        alias: undefined,
        own: undefined,
        waiting: 1,
        ambiguous: false,
      })
    }
    return before
  }

  /** Removes the request under all ids that responses may use. */
  #close(key: Key, { alias, own }: Open<R>): void {
    this.#open.delete(key)
    if (alias !== undefined) this.#open.delete(alias)
    if (own !== undefined) this.#open.delete(own)
  }

  #observeAnswer(message: Observation<R>, relations: Draft<Relations<R>>): void {
    const { envelope, direction, conversation } = message
    const own = envelope.id === undefined ? undefined : this.#idKey(envelope.id)
    const id = isNamelessError(envelope) ? message.request?.id : own
    if (id === undefined) return
    const key = this.#keys.of(conversation, opposite(direction), id)
    this.#answer(key, envelope, direction, conversation, message.request, relations)
  }

  #answer(
    key: Key,
    envelope: Envelope,
    direction: Direction,
    conversation: string,
    known: Observation<R>['request'],
    relations: Draft<Relations<R>>,
  ): void {
    const request = this.#open.get(key)
    if (known?.answered || !request) {
      const before = known?.ref ?? this.#answered.get(key)
      if (before === undefined) return
      relations.answers = before
      // The request may have been answered on another stream.
      if (known?.answered || !known || this.#answered.get(key) === known.ref) relations.late = true
      return
    }
    request.waiting -= 1
    if (request.waiting === 0) {
      this.#close(key, request)
      // A task outlives the request that created it, and so does its progress.
      if (!envelope.createsTask && request.names) for (const name of request.names) name.users -= 1
    }
    if (request.ambiguous && !known) return
    const ref = known?.ref ?? request.ref
    this.#answered.set(key, ref)
    if (!this.#withLinks) {
      relations.answers = ref
      return
    }
    this.#rounds.answered(conversation, key, ref, envelope)
    if (envelope.createsTask && envelope.taskId !== undefined)
      this.#give(this.#tasks, this.#keys.of(conversation, opposite(direction), envelope.taskId), ref)
    relations.answers = ref
  }

  #cancelled(message: Observation<R>, cancels: string): R | undefined {
    const { direction, conversation } = message
    const own = this.#keys.of(conversation, direction, this.#idKey(cancels))
    // 2026-07-28: a server ends a subscription by cancelling the client's listen request.
    const other = this.#keys.of(conversation, opposite(direction), this.#idKey(cancels))
    const stream = this.#open.get(other) && this.#subscriptions.get(other)
    const request = this.#open.get(own)
    if (request && stream) return undefined
    const found = request ?? stream
    if (found) {
      if (found.ambiguous) return undefined
      const listen = stream ?? this.#subscriptions.get(own)
      // Its id may be used again.
      if (listen?.ref === found.ref) listen.users = 0
      return found.ref
    }
    return this.#answered.get(own)
  }

  #certain(names: Recent<Name<R>, Key>, key: Key): R | undefined {
    const name = names.get(key)
    return name && !name.ambiguous ? name.ref : undefined
  }

  /** The request that created a message's task. The answering side assigns task ids. */
  #taskOf(message: Observation<R>, taskId: string): R | undefined {
    const { envelope, direction, conversation } = message
    const others = this.#keys.of(conversation, direction, taskId)
    const own = this.#keys.of(conversation, opposite(direction), taskId)
    // `tasks/…` requests concern a task of the other side; a status notification, the sender's own.
    if (envelope.kind === 'request' && envelope.method?.startsWith('tasks/'))
      return this.#certain(this.#tasks, others)
    if (envelope.method === 'notifications/tasks/status') return this.#certain(this.#tasks, own)
    if (this.#tasks.get(own) && this.#tasks.get(others)) return undefined
    return this.#certain(this.#tasks, this.#tasks.get(own) ? own : others)
  }

  #linkOthers(message: Observation<R>, answers: R | undefined, links: Links<R>): void {
    const { envelope, direction, conversation } = message
    const link = (kind: LinkKind, to: R | undefined): void => {
      if (to !== undefined && to !== answers) links.push({ kind, to })
    }
    if (envelope.kind === 'notification') {
      const { progressToken, cancels, subscriptionId } = envelope
      const asked = (name: string): Key => this.#keys.of(conversation, opposite(direction), this.#idKey(name))
      if (progressToken !== undefined) link('progress', this.#certain(this.#tokens, asked(progressToken)))
      if (cancels !== undefined) link('cancel', this.#cancelled(message, cancels))
      if (subscriptionId !== undefined)
        link('subscription', this.#certain(this.#subscriptions, asked(subscriptionId)))
    }
    if (envelope.taskId !== undefined && !envelope.createsTask)
      link('task', this.#taskOf(message, envelope.taskId))
  }
}

const noLinks: readonly never[] = []
const plainResult: Envelope = { kind: 'result' }
