import type { HeldEvent, ReleaseOutcome } from '../control-schema/index.js'
import type { DroppedRecord, HeldRecord, MessageRecord, Part } from '../model/index.js'
import { findJsonValue, idKey, isFault, partsOf, readEnvelope } from '../wire/index.js'

/** Messages that went on and whose line is still to come. */
const mostGoing = 10_000

interface Told {
  readonly event: HeldEvent
  readonly record: HeldRecord
}

interface Going extends Told {
  /** What was put in its place. */
  readonly text: string | undefined
  /** How its line begins to be the same. */
  readonly like: string
  readonly heldMs: number
}

/**
 * What a tape does not say about held messages (one of --strict-v1, or one of which lines were left out), made of what
 * the socket says.
 */
export class UntoldRows {
  readonly #waiting = new Map<string, Told>()
  /** In the order in which they went on. */
  readonly #going: Going[] = []

  /** The record that the tape would have had. Undefined for what cannot be read. */
  held(event: HeldEvent): HeldRecord | undefined {
    const { message, direction, text, t, conversation } = event
    const span = findJsonValue(text)
    if (isFault(span)) return undefined
    const raw = text.slice(span.start, span.end)
    const { batch, parts } = partsOf(raw)
    if (parts.length === 0) return undefined
    const record: HeldRecord = {
      type: 'held',
      t,
      direction,
      raw,
      batch,
      parts: parts.map(({ start, end }, i): Part => {
        const id = i === 0 ? { id: message } : {}
        return { ...id, envelope: readEnvelope(raw, start), start, end }
      }),
      ...(conversation !== undefined && { conversation }),
    }
    this.#waiting.set(message, { event, record })
    return record
  }

  /** What the tape would have had then, where it goes nowhere. */
  released(message: string, outcome: ReleaseOutcome, text: string | undefined): DroppedRecord | undefined {
    const told = this.#waiting.get(message)
    if (!told) return undefined
    this.#waiting.delete(message)
    const t = new Date().toISOString()
    if (outcome === 'dropped' || outcome === 'answered')
      return { type: 'dropped', t, id: message, why: outcome }
    const { record } = told
    const heldMs = Math.max(0, Date.now() - Date.parse(record.t)) || 0
    const like = text === undefined ? likenessOf(record) : likenessOfText(record.direction, text)
    if (this.#going.length >= mostGoing) this.#going.shift()
    this.#going.push({ ...told, text, like, heldMs })
    return undefined
  }

  /** The line of a message, with what it does not say itself. */
  told(record: MessageRecord): MessageRecord {
    if (this.#going.length === 0) return record
    const like = likenessOf(record)
    const at = this.#going.findIndex((going) => going.like === like)
    const [going] = at < 0 ? [] : this.#going.splice(at, 1)
    if (!going || going.record.parts.length !== record.parts.length) return record
    const [first, ...others] = record.parts
    return {
      ...record,
      parts: [{ ...first!, id: going.event.message }, ...others],
      heldMs: going.heldMs,
      ...(going.text !== undefined && { modified: true as const, original: going.record.raw }),
    }
  }
}

function likenessOfText(direction: MessageRecord['direction'], text: string): string {
  const span = findJsonValue(text)
  if (isFault(span)) return ''
  const raw = text.slice(span.start, span.end)
  const parts = partsOf(raw).parts.map(({ start, end }) => ({
    start,
    end,
    envelope: readEnvelope(raw, start),
  }))
  return likenessOf({ direction, parts })
}

/** What redaction leaves: two messages that differ in nothing of it may as well be taken for one another. */
function likenessOf({ direction, parts }: Pick<MessageRecord, 'direction' | 'parts'>): string {
  const each = parts.map(({ envelope: { kind, id, method, subject } }) => [
    kind,
    id === undefined ? '' : idKey(id),
    method ?? '',
    subject ?? '',
  ])
  return JSON.stringify([direction, each])
}
