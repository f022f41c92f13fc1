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

/** Limit of remembered requests with a changed id. */
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
 * Requests forwarded with a changed id. Messages that refer to them are adjusted: their responses to the sender's id,
 * cancellations to the receiver's.
 */
export class Renames {
  /** By the key of the changed id. */
  readonly #renames = new Map<string, Rename>()
  /** From the key of the original id to the key of the changed one. */
  readonly #others = new Map<string, string>()

  get size(): number {
    return this.#renames.size
  }

  /** Whether a request with a changed id is pending under this key. */
  has(key: string): boolean {
    return this.#renames.has(key)
  }

  /** Keys of the request ids that `text` changes, before and after. */
  changes(
    offer: Offer,
    text: string,
    kept?: readonly number[],
  ): { readonly from: string; readonly to: string }[] {
    return this.#pairsOf(offer, text, kept).map((pair) => this.#keysOf(offer, pair))
  }

  /** The same for one message. */
  change(
    offer: Offer,
    part: number,
    text: string,
  ): { readonly from: string; readonly to: string } | undefined {
    const pair = pairOf(offer.parts[part]!.envelope, readEnvelope(text, 0))
    return pair && this.#keysOf(offer, pair)
  }

  /** Records that the frame is forwarded as this text. @param kept for a batch: original indexes of its elements */
  note(offer: Offer, text: string, kept?: readonly number[]): void {
    for (const { own, other } of this.#pairsOf(offer, text, kept)) {
      const { from: ownKey, to: key } = this.#keysOf(offer, { own, other })
      const before = this.#others.get(ownKey)
      if (before !== undefined) this.#drop(before)
      if (this.#renames.size >= rememberedRenames) this.#drop(this.#renames.keys().next().value!)
      this.#renames.set(key, { own, other, ownKey, exchange: offer.exchange })
      this.#others.set(ownKey, key)
    }
  }

  /** The frame with its receiver's ids, if it refers to a changed request. */
  translate(offer: Offer): FrameText | undefined {
    if (this.#renames.size === 0) return undefined
    const edits = offer.parts.flatMap(({ envelope, start }) => {
      const answered = this.#spokenOf(offer, isAnswer(envelope) ? envelope.id : envelope.subscriptionId)
      const key = answered ?? this.#cancelled(offer, envelope)
      const rename = key === undefined ? undefined : this.#renames.get(key)
      if (!rename) return []
      const place = placeOfId(offer.text, start, envelope)
      return place ? [{ ...place, text: answered === undefined ? rename.other : rename.own }] : []
    })
    return edits.length === 0 ? undefined : readParts(spliceText(offer.text, edits))
  }

  /** Ends the requests that the frame answers or cancels. Returns the keys that are free again. */
  settle(offer: Offer): string[] {
    if (this.#renames.size === 0) return []
    const over = offer.parts.flatMap(
      ({ envelope }) =>
        (isAnswer(envelope) ? this.#spokenOf(offer, envelope.id) : this.#cancelled(offer, envelope)) ?? [],
    )
    for (const key of over) this.#drop(key)
    return over
  }

  /** Ends the requests of an HTTP exchange. Returns the keys that are free again. */
  forget(exchange: number): string[] {
    const over = [...this.#renames].filter(([, rename]) => rename.exchange === exchange).map(([key]) => key)
    for (const key of over) this.#drop(key)
    return over
  }

  #pairsOf(offer: Offer, text: string, kept?: readonly number[]): { own: string; other: string }[] {
    const after = readParts(text)
    const parts = kept ? kept.map((i) => offer.parts[i]!) : offer.parts
    if (after.parts.length !== parts.length) return []
    return parts.flatMap(({ envelope }, i) => pairOf(envelope, after.parts[i]!.envelope) ?? [])
  }

  #keysOf(
    { conversation, direction }: Offer,
    { own, other }: { own: string; other: string },
  ): { from: string; to: string } {
    return { from: requestKey(conversation, direction, own), to: requestKey(conversation, direction, other) }
  }

  #drop(key: string): void {
    const rename = this.#renames.get(key)
    this.#renames.delete(key)
    if (rename && this.#others.get(rename.ownKey) === key) this.#others.delete(rename.ownKey)
  }

  /** The changed request that a response, or a subscription's notification, refers to. */
  #spokenOf({ direction, conversation }: Asking, id: string | undefined): string | undefined {
    if (id === undefined) return undefined
    const key = requestKey(conversation, opposite(direction), id)
    return this.#renames.has(key) ? key : undefined
  }

  #cancelled({ direction, conversation }: Asking, { cancels }: Envelope): string | undefined {
    return cancels === undefined ? undefined : this.#others.get(requestKey(conversation, direction, cancels))
  }
}

/** The ids of a request before and after, if they differ. */
function pairOf(before: Envelope, now: Envelope): { own: string; other: string } | undefined {
  if (before.kind !== 'request' || now.kind !== 'request') return undefined
  const [own, other] = [before.id, now.id]
  return own === undefined || other === undefined || idKey(own) === idKey(other) ? undefined : { own, other }
}

/** Position of the request id that a message refers to. */
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
