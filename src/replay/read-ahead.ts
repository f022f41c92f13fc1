import { marksOf } from '../compare/index.js'
import type { MessageRecord } from '../model/index.js'
import type { Mark } from './mark.js'
import type { Plan } from './plan.js'
import type { PlannedFrame, PlannedMessage } from './planned-frames.js'

/** A message as recorded. */
export interface Said {
  readonly text: string
  readonly marks: readonly Mark[]
  /** The record that contains it. */
  readonly record: MessageRecord
}

/** The recording, read one step ahead: there is time while the server works, and none once it has responded. */
export interface ReadAhead {
  /** Reads the records that will be needed after these messages were sent. */
  prepare(sent: readonly PlannedMessage[], next: PlannedFrame | undefined): void
  /** Immediate if prepared. Each frame is requested once. */
  frame(frame: PlannedFrame): MessageRecord | Promise<MessageRecord>
  /** The message in a row; otherwise like `frame`. */
  said(row: number): Said | Promise<Said>
}

export function createReadAhead(plan: Plan): ReadAhead {
  const frames = new Map<number, Reading<MessageRecord>>()
  const rows = new Map<number, Reading<Said>>()

  async function read(row: number): Promise<Said> {
    const { record, part } = await plan.message(row)
    const { start, end } = record.parts[part]!
    return { text: record.raw.slice(start, end), marks: marksOf(record, part), record }
  }

  return {
    prepare(sent, next) {
      for (const { kind, peer } of sent)
        if (kind === 'request' && peer >= 0) rows.set(peer, begin(read(peer)))
      if (next) frames.set(next.locator, begin(plan.read(next.locator)))
    },
    frame: ({ locator }) => taken(frames, locator) ?? plan.read(locator),
    said: (row) => taken(rows, row) ?? read(row),
  }
}

interface Reading<T> {
  value?: T
  readonly promise: Promise<T>
}

function begin<T>(promise: Promise<T>): Reading<T> {
  const reading: Reading<T> = { promise }
  promise.then(
    (value) => void (reading.value = value),
    // The caller that awaits the promise gets the error.
    () => undefined,
  )
  return reading
}

function taken<T>(readings: Map<number, Reading<T>>, key: number): T | Promise<T> | undefined {
  const reading = readings.get(key)
  readings.delete(key)
  return reading && (reading.value ?? reading.promise)
}
