import type { Envelope } from './envelope.js'
import { createRecent, detach } from './recent.js'

/** Peers choose states and arguments, of any length: few are remembered, and none that are huge. */
const remembered = 1_024
const rememberedChars = 4 * 1024 * 1024
const longestText = 65_536

/** A result that asked for input, and the request it answered. */
interface Round<R> {
  readonly ref: R
  readonly inputs: ReadonlySet<string>
  /** A retry has come. The same result again is then a later round, not that of another request. */
  taken: boolean
  /** Two requests wait for a retry that could belong to either. */
  ambiguous: boolean
}

/** The requests that a server may answer with `input_required` (2026-07-28). */
const methods: ReadonlySet<string | undefined> = new Set(['tools/call', 'prompts/get', 'resources/read'])

/**
 * Multi round-trip requests (2026-07-28): a retry is a new request that returns the exact `requestState`, or,
 * without a state, repeats the request with the requested inputs.
 */
export interface Rounds<R> {
  /** A request was sent under `key`. Returns the request of the previous round, when certain. */
  asked(conversation: string, key: string | number, request: Envelope): R | undefined
  /** The request under `key`, with the reference `ref`, was answered. */
  answered(conversation: string, key: string | number, ref: R, answer: Envelope): void
}

export function createRounds<R>(): Rounds<R> {
  const limits = { entries: remembered, chars: rememberedChars, sizeOf: inputChars }
  const byState = createRecent<Round<R>>(limits)
  const byRequest = createRecent<Round<R>>(limits)
  /** Signatures of open requests: texts that a retry may repeat. */
  const signatures = createRecent<string, string | number>({
    ...limits,
    sizeOf: (signature) => signature.length,
  })

  const keyOf = (conversation: string, text: string): string =>
    `${conversation.length} ${conversation} ${text}`

  function roundBefore(
    conversation: string,
    request: Envelope,
    signature: string | undefined,
  ): Round<R> | undefined {
    const { requestState, inputResponses } = request
    if (requestState !== undefined) {
      return requestState.length > longestText ? undefined : byState.get(keyOf(conversation, requestState))
    }
    if (!inputResponses || signature === undefined) return undefined
    const round = byRequest.get(keyOf(conversation, signature))
    return round && inputResponses.every((name) => round.inputs.has(name)) ? round : undefined
  }

  return {
    asked(conversation, key, request) {
      const signature = signatureOf(request)
      if (signature !== undefined) signatures.set(key, signature)
      const round = roundBefore(conversation, request, signature)
      if (!round || round.ambiguous) return undefined
      round.taken = true
      return round.ref
    },
    answered(conversation, key, ref, answer) {
      const signature = signatures.get(key)
      signatures.delete(key)
      if (answer.resultType !== 'input_required') return
      const { requestState } = answer
      const text = requestState ?? signature
      if (text === undefined || text.length > longestText) return
      const rounds = requestState === undefined ? byRequest : byState
      const roundKey = keyOf(conversation, detach(text))
      const before = rounds.get(roundKey)
      const named = answer.inputRequests ?? []
      if (named.reduce((chars, name) => chars + name.length, 0) > longestText) return
      const inputs = new Set(named.map(detach))
      const ambiguous = before !== undefined && (before.ambiguous || !before.taken)
      rounds.set(roundKey, { ref, inputs, taken: false, ambiguous })
    },
  }
}

function signatureOf({ method, subject, argumentsText, modern }: Envelope): string | undefined {
  if (!modern || !methods.has(method)) return undefined
  if ((argumentsText?.length ?? 0) + (subject?.length ?? 0) > longestText) return undefined
  return JSON.stringify([method, subject, argumentsText])
}

function inputChars({ inputs }: Round<unknown>): number {
  let chars = 0
  for (const name of inputs) chars += name.length
  return chars
}
