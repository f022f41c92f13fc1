import type { Draft } from './draft.js'
import { isAnswer, isNamelessError, opposite, type Direction, type Envelope } from './envelope.js'
import type { LinkKind, Part } from './record.js'
import { keyOf, plainKey, keyText, type Key, type PlainId } from './request-key.js'
import { createRecent, detach, type Recent } from './recent.js'
import { createRounds } from './rounds.js'

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
    /** Exact text of the request's id, for an error that names no request. */
    readonly id?: string
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

/** Takes messages in order and finds how they are related. */
export interface Correlator<R> {
  observe(message: Observation<R>): Relations<R>
  /**
   * As `observe`, in the conversation `''`, for a request without references and names. Allocates only what must be
   * remembered. Keeps the texts.
   *
   * @returns `duplicateOf`
   */
  observePlainRequest(
    direction: Direction,
    id: PlainId,
    ref: R,
    method: string,
    subject: string | null,
  ): R | undefined
  /** As `observePlainRequest`, for a result. */
  observePlainResult(direction: Direction, id: PlainId): Relations<R>
  /** An observed request was forwarded under another id. Responses may use either id. */
  rename(
    request: Pick<Observation<R>, 'ref' | 'envelope' | 'direction' | 'conversation'>,
    newId: string,
  ): void
  /** The transport reports that a request can no longer be answered: its id may be used again. */
  giveUp(request: Pick<Observation<R>, 'ref' | 'direction' | 'conversation'> & { readonly id: string }): void
  /** Unanswered requests, under the ids that responses will use. */
  openRequests(): OpenRequest[]
}

/** Maximum number of open requests remembered. */
const rememberedOpen = 32_768
/** Maximum number of answered requests, tokens, tasks and subscriptions, each: references come soon. */
const remembered = 8_192
/** Peers choose the length of ids; this much text of them is remembered, each. */
const rememberedChars = 4 * 1024 * 1024
/** Longer ids, tokens and task names are not correlated: each message could otherwise add megabytes of memory. */
const longestId = 4_096
/** Longer request subjects are not remembered. */
const longestName = 1_000
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

/**
 * Ids are typed and directed: `1` is not `"1"`, and a server's own request 1 never receives the response to
 * the client's request 1. The first response matches, later ones are late. Only certain links are made; a
 * reference that two requests could claim stays unlinked.
 *
 * @param idKey canonical form of an id's exact JSON text: equal for equal ids, different for `1` and `"1"`
 * @param options.links also find links other than responses @default true
 */
export function createCorrelator<R>(
  idKey: (idText: string) => string,
  { links: withLinks = true }: { readonly links?: boolean } = {},
): Correlator<R> {
  const limits = { entries: remembered, chars: rememberedChars }
  const open = createRecent<Open<R>, Key>({
    ...limits,
    entries: rememberedOpen,
    sizeOf: ({ name, method }) => (name?.length ?? 0) + (method?.length ?? 0),
  })
  const answered = createRecent<R, Key>(limits)
  const tokens = createRecent<Name<R>, Key>(limits)
  const tasks = createRecent<Name<R>, Key>(limits)
  const subscriptions = createRecent<Name<R>, Key>(limits)
  const rounds = createRounds<R>()

  function give(names: Recent<Name<R>, Key>, key: Key, ref: R): Name<R> {
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

  function observeRequest(message: Observation<R>, links: Links<R>): R | undefined {
    const { envelope, direction, conversation, ref } = message
    if (envelope.id === undefined) return undefined
    const key = keyOf(conversation, direction, idKey(envelope.id))
    const before = begin(key, ref, ownText(envelope.method), ownText(envelope.subject))
    const note = (name: Name<R>): void => {
      const request = before ?? open.get(key)
      if (!request) return
      request.names ??= []
      if (request.names.length < longestNames) request.names.push(name)
    }
    if (withLinks && envelope.progressToken !== undefined)
      note(give(tokens, keyOf(conversation, direction, idKey(envelope.progressToken)), ref))
    if (withLinks && envelope.method === 'subscriptions/listen') note(give(subscriptions, key, ref))
    const round = withLinks ? rounds.asked(conversation, key, envelope) : undefined
    if (round !== undefined) links.push({ kind: 'round', to: round })
    return before?.ref
  }

  /** Returns the request that is already open under the same id. */
  function begin(key: Key, ref: R, method: string | null, name: string | null): Open<R> | undefined {
    const before = open.get(key)
    answered.delete(key)
    if (before) {
      before.waiting += 1
      before.ambiguous = true
    } else {
      open.set(key, {
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
  function close(key: Key, { alias, own }: Open<R>): void {
    open.delete(key)
    if (alias !== undefined) open.delete(alias)
    if (own !== undefined) open.delete(own)
  }

  function observeAnswer(message: Observation<R>, relations: Draft<Relations<R>>): void {
    const { envelope, direction, conversation } = message
    const id = isNamelessError(envelope) ? message.request?.id : envelope.id
    if (id === undefined) return
    const key = keyOf(conversation, opposite(direction), idKey(id))
    answer(key, message, message.request, relations)
  }

  function answer(
    key: Key,
    { envelope, direction, conversation }: Pick<Observation<R>, 'envelope' | 'direction' | 'conversation'>,
    known: Observation<R>['request'],
    relations: Draft<Relations<R>>,
  ): void {
    const request = open.get(key)
    if (known?.answered || !request) {
      const before = known?.ref ?? answered.get(key)
      if (before === undefined) return
      relations.answers = before
      // The request may have been answered on another stream.
      if (known?.answered || !known || answered.get(key) === known.ref) relations.late = true
      return
    }
    request.waiting -= 1
    if (request.waiting === 0) {
      close(key, request)
      // A task outlives the request that created it, and so does its progress.
      if (!envelope.createsTask && request.names) for (const name of request.names) name.users -= 1
    }
    if (request.ambiguous && !known) return
    const ref = known?.ref ?? request.ref
    answered.set(key, ref)
    if (!withLinks) {
      relations.answers = ref
      return
    }
    rounds.answered(conversation, key, ref, envelope)
    if (envelope.createsTask && envelope.taskId !== undefined)
      give(tasks, keyOf(conversation, opposite(direction), envelope.taskId), ref)
    relations.answers = ref
  }

  function cancelled(message: Observation<R>, cancels: string): R | undefined {
    const { direction, conversation } = message
    const own = keyOf(conversation, direction, idKey(cancels))
    // 2026-07-28: a server ends a subscription by cancelling the client's listen request.
    const other = keyOf(conversation, opposite(direction), idKey(cancels))
    const stream = open.get(other) && subscriptions.get(other)
    const request = open.get(own)
    if (request && stream) return undefined
    const found = request ?? stream
    if (found) {
      if (found.ambiguous) return undefined
      const listen = stream ?? subscriptions.get(own)
      // Its id may be used again.
      if (listen?.ref === found.ref) listen.users = 0
      return found.ref
    }
    return answered.get(own)
  }

  function certain(names: Recent<Name<R>, Key>, key: Key): R | undefined {
    const name = names.get(key)
    return name && !name.ambiguous ? name.ref : undefined
  }

  /** The request that created a message's task. The answering side assigns task ids. */
  function taskOf(message: Observation<R>, taskId: string): R | undefined {
    const { envelope, direction, conversation } = message
    const others = keyOf(conversation, direction, taskId)
    const own = keyOf(conversation, opposite(direction), taskId)
    // `tasks/…` requests concern a task of the other side; a status notification, the sender's own.
    if (envelope.kind === 'request' && envelope.method?.startsWith('tasks/')) return certain(tasks, others)
    if (envelope.method === 'notifications/tasks/status') return certain(tasks, own)
    if (tasks.get(own) && tasks.get(others)) return undefined
    return certain(tasks, tasks.get(own) ? own : others)
  }

  function linkOthers(message: Observation<R>, answers: R | undefined, links: Links<R>): void {
    const { envelope, direction, conversation } = message
    const link = (kind: LinkKind, to: R | undefined): void => {
      if (to !== undefined && to !== answers) links.push({ kind, to })
    }
    if (envelope.kind === 'notification') {
      const { progressToken, cancels, subscriptionId } = envelope
      const asked = (name: string): Key => keyOf(conversation, opposite(direction), idKey(name))
      if (progressToken !== undefined) link('progress', certain(tokens, asked(progressToken)))
      if (cancels !== undefined) link('cancel', cancelled(message, cancels))
      if (subscriptionId !== undefined) link('subscription', certain(subscriptions, asked(subscriptionId)))
    }
    if (envelope.taskId !== undefined && !envelope.createsTask) link('task', taskOf(message, envelope.taskId))
  }

  return {
    openRequests: () =>
      [...open.entries()].map(([key, { method, name }]) => ({ key: keyText(key), method, name })),
    observePlainRequest: (direction, id, ref, method, subject) =>
      begin(plainKey(direction, id), ref, shortText(method), shortText(subject))?.ref,
    observePlainResult(direction, id) {
      const relations: Draft<Relations<R>> = { links: noLinks }
      answer(plainKey(opposite(direction), id), plainResults[direction], undefined, relations)
      return relations
    },
    rename({ ref, envelope, direction, conversation }, newId) {
      if (hasLongId(envelope) || !canRelate(newId)) return
      const own = keyOf(conversation, direction, idKey(envelope.id ?? ''))
      const alias = keyOf(conversation, direction, idKey(newId))
      const request = open.get(own)
      // Another open request of that id would be mistaken for this one.
      if (request?.ref !== ref || request.ambiguous || open.get(alias)) return
      request.own = own
      request.alias = alias
      open.set(alias, request)
      const listen = subscriptions.get(own)
      if (listen?.ref === ref) subscriptions.set(alias, listen)
    },
    giveUp({ ref, direction, conversation, id }) {
      const key = keyOf(conversation, direction, idKey(id))
      const request = open.get(key)
      if (request?.ref !== ref || request.waiting > 1) return
      close(key, request)
      for (const name of request.names ?? []) name.users -= 1
      // A response that still arrives can then be matched.
      answered.set(key, ref)
    },
    observe(seen) {
      const message = hasLongId(seen.envelope) ? { ...seen, envelope: withoutLongIds(seen.envelope) } : seen
      const links: Links<R> = []
      // Member by member, for speed: recordings hold millions of links.
      const relations: Draft<Relations<R>> = { links }
      if (message.envelope.kind === 'request') {
        const duplicateOf = observeRequest(message, links)
        if (duplicateOf !== undefined) relations.duplicateOf = duplicateOf
      } else if (isAnswer(message.envelope)) observeAnswer(message, relations)
      if (withLinks) linkOthers(message, relations.answers, links)
      return relations
    },
  }
}

const noLinks: readonly never[] = []
const plainResults = {
  client_to_server: { envelope: { kind: 'result' }, direction: 'client_to_server', conversation: '' },
  server_to_client: { envelope: { kind: 'result' }, direction: 'server_to_client', conversation: '' },
} as const

/** Whether an id is short enough to be remembered. @param id exact JSON text */
export function canRelate(id: string): boolean {
  return id.length <= longestId
}

const idMembers = ['id', 'progressToken', 'cancels', 'subscriptionId', 'taskId'] as const

function hasLongId({ id, progressToken, cancels, subscriptionId, taskId }: Envelope): boolean {
  return (
    (id !== undefined && id.length > longestId) ||
    (progressToken !== undefined && progressToken.length > longestId) ||
    (cancels !== undefined && cancels.length > longestId) ||
    (subscriptionId !== undefined && subscriptionId.length > longestId) ||
    (taskId !== undefined && taskId.length > longestId)
  )
}

function withoutLongIds(envelope: Envelope): Envelope {
  const short: Draft<Envelope> = { ...envelope }
  for (const member of idMembers) if ((short[member]?.length ?? 0) > longestId) delete short[member]
  return short
}

function shortText(text: string | null): string | null {
  return text === null || text.length > longestName ? null : text
}

function ownText(text: string | undefined): string | null {
  return text === undefined || text.length > longestName ? null : detach(text)
}
