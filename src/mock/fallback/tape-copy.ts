import { createHmac, randomBytes } from 'node:crypto'
import { randomUUID } from 'node:crypto'
import { adopt, encodeRecord, type Recording } from '../../formats/index.js'
import {
  createCorrelator,
  type Correlator,
  type Direction,
  type EndRecord,
  type Envelope,
  type MessageRecord,
  type TapeRecord,
} from '../../model/index.js'
import { createRedactor, type Redactor } from '../../redaction/index.js'
import { closed, replaceFile } from '../../tape/index.js'
import { idKey, readEnvelope } from '../../wire/index.js'
import type { Play } from '../play.js'
import { noRow } from '../script.js'
import { createTextStore } from '../text-store.js'
import type { FallbackWitness } from './fallback.js'

/** A copy of the recording with what a real server has answered. */
export interface TapeCopy {
  /** @param recorded number of the recorded conversation that the new messages belong to */
  witness(recorded: number): FallbackWitness
  /** Writes the copy: a closed tape. @throws WiretapeError `unwritable` */
  write(play: Play): Promise<void>
}

interface NewMessage {
  readonly text: number
  readonly direction: Direction
  readonly recorded: number
  /** Which live conversation: ids mean something within one only. */
  readonly live: number
  readonly atMs: number
}

const tagLength = 16

/** @param path of the copy */
export function createTapeCopy(recording: Recording, path: string): TapeCopy {
  const texts = createTextStore()
  const messages: NewMessage[] = []
  /** Rows of recorded calls that were asked again. */
  const replaced = new Set<number>()
  let live = 0

  async function* lines(play: Play): AsyncGenerator<Uint8Array> {
    const left = numbersOf(play, replaced)
    let last = { number: -1, us: 0 }
    let redactor: Redactor | undefined
    let end: EndRecord | undefined
    for await (const record of closed(adopt(recording)).records()) {
      if (record.type === 'end' && record.wiretape?.rotated !== true) {
        end = record
        continue
      }
      if (record.type === 'meta' && record.wiretape?.redaction !== 'none') redactor ??= createDefaults()
      const number = record.type === 'message' ? (record.seq ?? last.number + 1) : last.number
      if (record.type === 'message') {
        last = { number: number + record.parts.length - 1, us: Math.max(last.us, record.us ?? 0) }
        if (record.parts.every((_, i) => left.has(number + i))) continue
      }
      yield Buffer.from(encodeRecord(record.type === 'message' ? { ...record, seq: number } : record))
    }
    let count = 0
    for (const record of added(play, last, redactor)) {
      count += 1
      yield Buffer.from(encodeRecord(record))
    }
    if (end) yield Buffer.from(encodeRecord(ending(end, last.number + 1 + count - left.size)))
  }

  function* added(
    play: Play,
    last: { readonly number: number; readonly us: number },
    redactor: Redactor | undefined,
  ): Generator<TapeRecord> {
    const correlators = new Map<number, Correlator<string>>()
    const began = messages[0]?.atMs ?? 0
    for (const [i, message] of messages.entries()) {
      const correlator = correlators.get(message.live) ?? createCorrelator<string>(idKey)
      correlators.set(message.live, correlator)
      const at = {
        seq: last.number + 1 + i,
        us: last.us + 1_000 + Math.round((message.atMs - began) * 1_000),
      }
      const name = play.conversationName(message.recorded)
      yield recordOf(texts.read(message.text), message, at, name, correlator, redactor)
    }
  }

  return {
    witness(recorded) {
      live += 1
      const own = live
      const add = (text: string, direction: Direction): void => {
        messages.push({
          text: texts.add(text),
          direction,
          recorded,
          live: own,
          atMs: performance.timeOrigin + performance.now(),
        })
      }
      return {
        asked(text, _, replaces) {
          if (replaces !== noRow) replaced.add(replaces)
          add(text, 'client_to_server')
        },
        fromClient: (text) => add(text, 'client_to_server'),
        fromServer: (text) => add(text, 'server_to_client'),
      }
    },
    async write(play) {
      try {
        await replaceFile(path, lines(play))
      } finally {
        texts.close()
      }
    },
  }
}

function recordOf(
  text: string,
  { direction, atMs }: NewMessage,
  at: { readonly seq: number; readonly us: number },
  conversation: string | undefined,
  correlator: Correlator<string>,
  redactor: Redactor | undefined,
): MessageRecord {
  const id = randomUUID()
  // Links before redaction, which makes different values look alike.
  const envelope: Envelope = readEnvelope(text, 0)
  const seen = correlator.observe({ ref: id, envelope, direction, conversation: conversation ?? '' })
  const safe = redactor?.json(text)
  const raw = safe?.raw ?? text
  return {
    type: 'message',
    t: new Date(atMs).toISOString(),
    ...at,
    direction,
    raw,
    ...(safe && { red: safe.red }),
    batch: false,
    parts: [
      {
        id,
        envelope,
        start: 0,
        end: raw.length,
        ...(seen.answers !== undefined && { correlatedId: seen.answers }),
        ...(seen.late && { late: true as const }),
        ...(seen.links.length > 0 && { links: seen.links }),
      },
    ],
    ...(conversation !== undefined && { conversation }),
  }
}

/** Numbers of the messages that belong to these calls: what followed from them, and what they waited for. */
function numbersOf({ script }: Play, calls: ReadonlySet<number>): Set<number> {
  const numbers = new Set<number>()
  const add = (row: number): void => {
    if (row !== noRow && script.number(row) >= 0) numbers.add(script.number(row))
  }
  for (const call of calls) {
    add(call)
    if (script.kind(script.closedBy(call)) === 'note') add(script.closedBy(call))
    for (let row = script.firstEffect(call); row !== noRow; row = script.nextEffect(row)) {
      add(row)
      if (script.kind(row) === 'question') add(script.closedBy(row))
    }
  }
  return numbers
}

function ending(end: EndRecord, messages: number): EndRecord {
  const { redacted: _, ...wiretape } = end.wiretape ?? {}
  return { ...end, wiretape: { ...wiretape, messages } }
}

function createDefaults(): Redactor {
  const key = randomBytes(32)
  const tag = (secret: string): string =>
    createHmac('sha256', key).update(secret).digest('hex').slice(0, tagLength)
  return createRedactor({ defaults: true, tag })
}
