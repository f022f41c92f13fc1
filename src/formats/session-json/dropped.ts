import type { DroppedRecord, HeldRecord, MessageRecord, TapeRecord } from '../../model/index.js'

/** A message that did not cross the wire, and the member that marks its entry. */
export interface DroppedFrame {
  readonly held: HeldRecord
  /** `answeredBy`: `person` or `rule NAME`. */
  readonly mark: readonly [name: 'dropped', json: 'true'] | readonly [name: 'answeredBy', json: string]
}

/** Members that mark entries of messages which did not cross the wire. */
export const droppedMarks: readonly string[] = ['dropped', 'answeredBy']

/** Finds the messages that did not cross the wire. Takes the records in order. */
export interface DroppedFrames {
  /** Messages whose outcome is now certain. Their entries precede this record. */
  see(record: TapeRecord): readonly DroppedFrame[]
  /** Messages that were unanswered when the recording ended. */
  rest(): readonly DroppedFrame[]
}

/** Characters of held messages remembered; beyond that, the oldest have no entry. */
const mostRemembered = 16 * 1024 * 1024
/** Records of other peers that may precede the injected response, which follows its request at once. */
const mostBetween = 64
/** Start of the error that a client gets over HTTP for a dropped request. */
const refusal = 'wiretape: dropped:'

interface Dropped {
  readonly held: HeldRecord
  readonly dropped: DroppedRecord
  age: number
}

export function createDroppedFrames(): DroppedFrames {
  const waiting = new Map<string, HeldRecord>()
  let remembered = 0
  /** Requests that may still be answered. */
  let unanswered: Dropped[] = []

  function forget(id: string): HeldRecord | undefined {
    const held = waiting.get(id)
    if (held && waiting.delete(id)) remembered -= held.raw.length
    return held
  }

  function hold(held: HeldRecord): void {
    const id = held.parts[0]?.id
    if (id === undefined) return
    waiting.set(id, held)
    remembered += held.raw.length
    for (const oldest of waiting.keys()) {
      if (remembered <= mostRemembered) break
      forget(oldest)
    }
  }

  function drop(dropped: DroppedRecord): readonly DroppedFrame[] {
    const held = forget(dropped.id)
    if (!held) return []
    if (!held.parts.some(({ envelope }) => envelope.kind === 'request')) return [unansweredFrame({ held })]
    unanswered.push({ held, dropped, age: 0 })
    return []
  }

  function due(answer: MessageRecord | undefined): readonly DroppedFrame[] {
    const found: DroppedFrame[] = []
    unanswered = unanswered.filter((one) => {
      const reply = answer?.parts.find(
        ({ correlatedId }) =>
          correlatedId !== undefined && one.held.parts.some(({ id }) => id === correlatedId),
      )
      one.age += 1
      if (!reply && one.age <= mostBetween) return true
      const isRefused = reply?.envelope.errorMessage?.startsWith(refusal) === true
      found.push(reply && !isRefused ? answeredFrame(one, answer!) : unansweredFrame(one))
      return false
    })
    return found
  }

  return {
    see(record) {
      if (record.type === 'message' && waiting.size > 0) forget(record.parts[0]?.id ?? '')
      const found = unanswered.length === 0 ? [] : due(record.type === 'message' ? record : undefined)
      if (record.type === 'held') hold(record)
      return record.type === 'dropped' ? [...found, ...drop(record)] : found
    },
    rest: () => unanswered.splice(0).map(unansweredFrame),
  }
}

function unansweredFrame({ held }: Pick<Dropped, 'held'>): DroppedFrame {
  return { held, mark: ['dropped', 'true'] }
}

function answeredFrame({ held, dropped }: Dropped, answer: MessageRecord): DroppedFrame {
  const rule = dropped.rule ?? answer.rule
  return { held, mark: ['answeredBy', JSON.stringify(rule === undefined ? 'person' : `rule ${rule}`)] }
}
