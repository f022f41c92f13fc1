import { isAnswer, opposite, type Envelope } from '../model/index.js'
import {
  idKey,
  memberOf,
  membersOf,
  readEnvelope,
  spliceText,
  readParts,
  type FrameText,
} from '../wire/index.js'
import { requestKey } from './exchange-key.js'
import type { Offer } from './frame.js'

/** Requests under another id than that of their sender, which are remembered. */
const rememberedRenames = 4_096

interface Rename {
  /** Exact JSON text. */
  readonly own: string
  readonly other: string
  readonly ownKey: string
  readonly exchange: number | undefined
}

type Asking = Pick<Offer, 'direction' | 'conversation' | 'exchange'>

/**
 * Requests that went on under another id. What speaks of them is put right on its way: their answers name the id that
 * their sender gave, its cancellation the one that their receiver got.
 */
export interface Renames {
  readonly size: number
  /** A request waits for its answer under this key, and is not that of whoever gave the id. */
  has(key: string): boolean
  /** Ids of requests that `text` changes, as keys, with those of the same request before. */
  changes(
    offer: Offer,
    text: string,
    kept?: readonly number[],
  ): { readonly from: string; readonly to: string }[]
  /** The same of one message. */
  change(offer: Offer, part: number, text: string): { readonly from: string; readonly to: string } | undefined
  /** The frame goes on as this text. @param kept of a batch: the places, before, of the elements that it has */
  note(offer: Offer, text: string, kept?: readonly number[]): void
  /** The frame in the words of whoever gets it, where it speaks of such a request. */
  translate(offer: Offer): FrameText | undefined
  /** Answers and cancellations that the frame has: what they speak of is over. Gives the keys that are free again. */
  settle(offer: Offer): string[]
  /** The exchange is over. The same. */
  forget(exchange: number): string[]
}

export function createRenames(): Renames {
  /** By the key of the other id. */
  const renames = new Map<string, Rename>()
  /** By the key of the own id. */
  const others = new Map<string, string>()

  function pairsOf(offer: Offer, text: string, kept?: readonly number[]): { own: string; other: string }[] {
    const after = readParts(text)
    const parts = kept ? kept.map((i) => offer.parts[i]!) : offer.parts
    if (after.parts.length !== parts.length) return []
    return parts.flatMap(({ envelope }, i) => pairOf(envelope, after.parts[i]!.envelope) ?? [])
  }

  function keysOf(
    { conversation, direction }: Offer,
    { own, other }: { own: string; other: string },
  ): { from: string; to: string } {
    return { from: requestKey(conversation, direction, own), to: requestKey(conversation, direction, other) }
  }

  function drop(key: string): void {
    const rename = renames.get(key)
    renames.delete(key)
    if (rename && others.get(rename.ownKey) === key) others.delete(rename.ownKey)
  }

  /** The rename that an answer, or what a subscription tells, speaks of. */
  function spokenOf({ direction, conversation }: Asking, id: string | undefined): string | undefined {
    if (id === undefined) return undefined
    const key = requestKey(conversation, opposite(direction), id)
    return renames.has(key) ? key : undefined
  }

  function cancelled({ direction, conversation }: Asking, { cancels }: Envelope): string | undefined {
    return cancels === undefined ? undefined : others.get(requestKey(conversation, direction, cancels))
  }

  return {
    get size() {
      return renames.size
    },
    has: (key) => renames.has(key),
    changes: (offer, text, kept) => pairsOf(offer, text, kept).map((pair) => keysOf(offer, pair)),
    change(offer, part, text) {
      const pair = pairOf(offer.parts[part]!.envelope, readEnvelope(text, 0))
      return pair && keysOf(offer, pair)
    },
    note(offer, text, kept) {
      for (const { own, other } of pairsOf(offer, text, kept)) {
        const { from: ownKey, to: key } = keysOf(offer, { own, other })
        const before = others.get(ownKey)
        if (before !== undefined) drop(before)
        if (renames.size >= rememberedRenames) drop(renames.keys().next().value!)
        renames.set(key, { own, other, ownKey, exchange: offer.exchange })
        others.set(ownKey, key)
      }
    },
    translate(offer) {
      if (renames.size === 0) return undefined
      const edits = offer.parts.flatMap(({ envelope, start }) => {
        const answered = spokenOf(offer, isAnswer(envelope) ? envelope.id : envelope.subscriptionId)
        const key = answered ?? cancelled(offer, envelope)
        const rename = key === undefined ? undefined : renames.get(key)
        if (!rename) return []
        const place = placeOfId(offer.text, start, envelope)
        return place ? [{ ...place, text: answered === undefined ? rename.other : rename.own }] : []
      })
      return edits.length === 0 ? undefined : readParts(spliceText(offer.text, edits))
    },
    settle(offer) {
      if (renames.size === 0) return []
      const over = offer.parts.flatMap(
        ({ envelope }) =>
          (isAnswer(envelope) ? spokenOf(offer, envelope.id) : cancelled(offer, envelope)) ?? [],
      )
      for (const key of over) drop(key)
      return over
    },
    forget(exchange) {
      const over = [...renames].filter(([, rename]) => rename.exchange === exchange).map(([key]) => key)
      for (const key of over) drop(key)
      return over
    },
  }
}

/** The ids of a request before and now, where they are two. */
function pairOf(before: Envelope, now: Envelope): { own: string; other: string } | undefined {
  if (before.kind !== 'request' || now.kind !== 'request') return undefined
  const [own, other] = [before.id, now.id]
  return own === undefined || other === undefined || idKey(own) === idKey(other) ? undefined : { own, other }
}

/** Where a message says which request it speaks of. */
function placeOfId(
  text: string,
  start: number,
  envelope: Envelope,
): { readonly start: number; readonly end: number } | undefined {
  const path = isAnswer(envelope)
    ? ['id']
    : envelope.cancels !== undefined
      ? ['params', 'requestId']
      : ['params', '_meta', 'io.modelcontextprotocol/subscriptionId']
  let at = start
  let found: { readonly start: number; readonly end: number } | undefined
  for (const name of path) {
    found = memberOf(membersOf(text, at), name)
    if (!found) return undefined
    at = found.start
  }
  return found && { start: found.start, end: found.end }
}
