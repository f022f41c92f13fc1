import { opposite, type Direction, type Envelope } from './envelope.js'
import type { LinkKind } from './record.js'
import { createRecent, detach } from './recent.js'

/** One message as the correlator sees it. `R` is how the caller names messages: a UUID, a row number. */
export interface Observation<R> {
  readonly ref: R
  readonly envelope: Envelope
  readonly direction: Direction
  /** Ids mean something within one conversation only. */
  readonly conversation: string
}

/** What is certain about a message at the moment it is seen. */
export interface Relations<R> {
  /** The request that this answer belongs to. */
  readonly answers?: R
  /** The request had been answered before. */
  readonly late?: true
  /** The same side's request that is still open under this id: their answers cannot be told apart. */
  readonly duplicateOf?: R
  readonly links: readonly { readonly kind: LinkKind; readonly to: R }[]
}

/** Sees messages in order and tells how they belong together. */
export interface Correlator<R> {
  observe(message: Observation<R>): Relations<R>
}

/** Open requests, answered requests, tokens, tasks and subscriptions remembered, each. */
const remembered = 65_536
/** Multi round-trip states are whole strings of the server's making: fewer of them are kept. */
const rememberedRounds = 1_024
const longestRoundText = 65_536

interface Open<R> {
  readonly ref: R
  readonly envelope: Pick<Envelope, 'method' | 'subject' | 'argumentsText'>
  /** Requests of one side under one id that wait for an answer. More than one: nothing is certain. */
  waiting: number
  ambiguous: boolean
}

interface Round<R> {
  readonly ref: R
  readonly inputs: ReadonlySet<string>
}

/**
 * Typed and directed: `1` is not `"1"`, and a server's own request 1 never takes the client's answer 1.
 * The first answer wins, later ones are late. A link is made only when it is certain; what two requests
 * could claim is left alone.
 *
 * @param idKey the canonical form of an id's exact JSON text: equal for equal ids, different for `1` and `"1"`
 */
export function createCorrelator<R>(idKey: (idText: string) => string): Correlator<R> {
  const open = createRecent<Open<R>>(remembered)
  const answered = createRecent<R>(remembered)
  const tokens = createRecent<R>(remembered)
  const tasks = createRecent<{ ref: R; ambiguous: boolean }>(remembered)
  const subscriptions = createRecent<R>(remembered)
  const roundsByState = createRecent<Round<R>>(rememberedRounds)
  const roundsByRequest = createRecent<Round<R>>(rememberedRounds)

  const keyOf = (conversation: string, direction: Direction, text: string): string =>
    `${direction === 'client_to_server' ? '>' : '<'}${idKey(text)} ${conversation}`

  function observeRequest(message: Observation<R>, links: { kind: LinkKind; to: R }[]): R | undefined {
    const { envelope, direction, conversation, ref } = message
    if (envelope.id === undefined) return undefined
    const key = keyOf(conversation, direction, envelope.id)
    const before = open.get(key)
    answered.delete(key)
    if (before) {
      before.waiting += 1
      before.ambiguous = true
    } else {
      open.set(key, { ref, envelope: openEnvelope(envelope), waiting: 1, ambiguous: false })
    }
    if (envelope.progressToken !== undefined) {
      tokens.set(keyOf(conversation, direction, envelope.progressToken), ref)
    }
    if (envelope.method === 'subscriptions/listen') subscriptions.set(key, ref)
    const round = earlierRound(conversation, envelope)
    if (round) links.push({ kind: 'round', to: round.ref })
    return before?.ref
  }

  function observeAnswer(message: Observation<R>): Pick<Relations<R>, 'answers' | 'late'> {
    const { envelope, direction, conversation } = message
    if (envelope.id === undefined) return {}
    const key = keyOf(conversation, opposite(direction), envelope.id)
    const request = open.get(key)
    if (!request) {
      const before = answered.get(key)
      return before === undefined ? {} : { answers: before, late: true }
    }
    request.waiting -= 1
    if (request.waiting === 0) open.delete(key)
    if (request.ambiguous) return {}
    answered.set(key, request.ref)
    rememberRound(conversation, request, envelope)
    if (envelope.createsTask && envelope.taskId !== undefined)
      rememberTask(conversation, envelope.taskId, request.ref)
    return { answers: request.ref }
  }

  function rememberTask(conversation: string, taskId: string, ref: R): void {
    const key = `${taskId} ${conversation}`
    const before = tasks.get(key)
    if (before) before.ambiguous = true
    else tasks.set(key, { ref, ambiguous: false })
  }

  function rememberRound(conversation: string, request: Open<R>, envelope: Envelope): void {
    if (envelope.resultType !== 'input_required') return
    const round = { ref: request.ref, inputs: new Set(envelope.inputRequests) }
    if (envelope.requestState !== undefined && envelope.requestState.length <= longestRoundText) {
      roundsByState.set(`${conversation} ${detach(envelope.requestState)}`, round)
    } else if (envelope.requestState === undefined && request.envelope.argumentsText !== undefined) {
      roundsByRequest.set(roundKey(conversation, request.envelope), round)
    }
  }

  /** 2026-07-28: by the exact `requestState`, else by the same request bringing inputs that were asked for. */
  function earlierRound(conversation: string, envelope: Envelope): Round<R> | undefined {
    if (envelope.requestState !== undefined)
      return roundsByState.get(`${conversation} ${envelope.requestState}`)
    if (!envelope.inputResponses || envelope.argumentsText === undefined) return undefined
    const round = roundsByRequest.get(roundKey(conversation, envelope))
    return round && envelope.inputResponses.every((name) => round.inputs.has(name)) ? round : undefined
  }

  function cancelled(message: Observation<R>, cancels: string): R | undefined {
    const { direction, conversation } = message
    const own = keyOf(conversation, direction, cancels)
    const found = open.get(own)
    if (found) return found.ambiguous ? undefined : found.ref
    const other = keyOf(conversation, opposite(direction), cancels)
    // 2026-07-28: a server ends a subscription by cancelling the client's listen request.
    if (open.get(other) && subscriptions.get(other) !== undefined) return subscriptions.get(other)
    return answered.get(own)
  }

  function linkOthers(
    message: Observation<R>,
    answers: R | undefined,
    links: { kind: LinkKind; to: R }[],
  ): void {
    const { envelope, direction, conversation } = message
    if (envelope.kind === 'notification') {
      const { progressToken, cancels, subscriptionId } = envelope
      if (progressToken !== undefined) {
        const to = tokens.get(keyOf(conversation, opposite(direction), progressToken))
        if (to !== undefined) links.push({ kind: 'progress', to })
      }
      if (cancels !== undefined) {
        const to = cancelled(message, cancels)
        if (to !== undefined) links.push({ kind: 'cancel', to })
      }
      if (subscriptionId !== undefined) {
        const to = subscriptions.get(keyOf(conversation, opposite(direction), subscriptionId))
        if (to !== undefined) links.push({ kind: 'subscription', to })
      }
    }
    if (envelope.taskId !== undefined && !envelope.createsTask) {
      const task = tasks.get(`${envelope.taskId} ${conversation}`)
      if (task && !task.ambiguous && task.ref !== answers) links.push({ kind: 'task', to: task.ref })
    }
  }

  return {
    observe(message) {
      const links: { kind: LinkKind; to: R }[] = []
      const { kind } = message.envelope
      const duplicateOf = kind === 'request' ? observeRequest(message, links) : undefined
      const answer = kind === 'result' || kind === 'error' ? observeAnswer(message) : {}
      linkOthers(message, answer.answers, links)
      return { ...answer, ...(duplicateOf !== undefined && { duplicateOf }), links }
    },
  }
}

/** What an open request must remember: arguments only where a multi round-trip retry may repeat them. */
function openEnvelope(envelope: Envelope): Open<unknown>['envelope'] {
  const { method, subject, argumentsText, modern } = envelope
  const keep = modern && argumentsText !== undefined && argumentsText.length <= longestRoundText
  return {
    ...(method !== undefined && { method: detach(method) }),
    ...(subject !== undefined && keep && { subject: detach(subject) }),
    ...(keep && { argumentsText: detach(argumentsText) }),
  }
}

function roundKey(conversation: string, request: Open<unknown>['envelope']): string {
  return `${conversation} ${request.method} ${request.subject} ${request.argumentsText}`
}
