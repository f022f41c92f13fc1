import { randomUUID } from 'node:crypto'
import { adopt, encodeRecord, type Recording } from '../../formats/index.js'
import {
  Correlator,
  createIntColumn,
  relatePart,
  setRow,
  type EndRecord,
  type MessageRecord,
} from '../../model/index.js'
import { Redactor } from '../../redaction/index.js'
import { closed, createTagger, replaceFile } from '../../tape/index.js'
import { idKey, readEnvelope } from '../../wire/index.js'
import type { Play } from '../play.js'
import { noRow } from '../script.js'
import { CopyOrder } from './copy-order.js'
import { CopyWitness } from './copy-witness.js'
import type { FallbackWitness } from './fallback.js'
import { createNewMessages, type NewMessage } from './new-messages.js'

/** A copy of the recording with the responses of a real server. */
export interface TapeCopy {
  /** @param recorded number of the recorded conversation that a live one follows */
  witness(play: Play, recorded: number): FallbackWitness
  /** Writes the copy: a closed tape. @throws WiretapeError `unwritable` */
  write(play: Play): Promise<void>
}

/**
 * New messages are placed where a client of the recording would have sent them, so that the copy is a conversation that
 * can be replayed and served.
 *
 * @param path of the copy
 */
export function createTapeCopy(recording: Recording, path: string, what: 'new' | 'all'): TapeCopy {
  const messages = createNewMessages()
  /** Rows of recorded calls that were sent again. */
  const replaced = createIntColumn(0)
  /** Names of live conversations in the copy; undefined where the recording has one without a name. */
  const names: (string | undefined)[] = []
  /** Recorded conversations that some client appends to. */
  const followed = new Set<number>()

  async function* lines(play: Play): AsyncGenerator<Uint8Array> {
    const order = new CopyOrder(messages.inOrder(), leftOut(play, replaced.get))
    const correlators = names.map(() => new Correlator<string>(idKey))
    let redactor: Redactor | undefined
    let end: EndRecord | undefined
    for await (const record of closed(adopt(recording)).records()) {
      if (record.type === 'end' && record.wiretape?.rotated !== true) end = record
      else {
        if (record.type === 'meta' && record.wiretape?.redaction !== 'none')
          redactor ??= new Redactor({ defaults: true, tag: createTagger() })
        for (const placed of order.take(record)) yield encoded(placed)
      }
    }
    for (const placed of order.rest()) yield encoded(placed)
    if (end) yield Buffer.from(encodeRecord(order.ending(end)))

    function encoded(placed: ReturnType<typeof order.take>[number]): Uint8Array {
      if (!('message' in placed)) return Buffer.from(encodeRecord(placed.record))
      const { message, at } = placed
      const correlator = correlators[message.live]!
      return Buffer.from(encodeRecord(recordOf(message, at, names[message.live], correlator, redactor)))
    }
  }

  return {
    witness(play, recorded) {
      const live = names.length
      names.push(play.conversationName(recorded))
      return new CopyWitness({
        script: play.script,
        what,
        joins(fits) {
          const isFirst = fits && !followed.has(recorded)
          if (isFirst) followed.add(recorded)
          else names[live] = ownName(play, live)
          return isFirst
        },
        replaced: (row, isReplaced) => setRow(replaced, row, isReplaced ? 1 : 0),
        add: (message) => messages.add({ ...message, live, atMs: performance.now() }),
        remove: (number) => messages.remove(number),
      })
    },
    async write(play) {
      try {
        await replaceFile(path, lines(play))
      } finally {
        messages.close()
      }
    },
  }
}

/** A prefix not yet in use: a copy of a copy already has such names. */
function ownName(play: Play, live: number): string {
  const taken = play.openings.map((number) => play.conversationName(number) ?? '')
  let prefix = 'live-'
  while (taken.some((name) => name.startsWith(prefix))) prefix += 'live-'
  return `${prefix}${live + 1}`
}

function recordOf(
  { text, direction }: NewMessage,
  at: Pick<MessageRecord, 't' | 'us' | 'seq'>,
  conversation: string | undefined,
  correlator: Correlator<string>,
  redactor: Redactor | undefined,
): MessageRecord {
  const id = randomUUID()
  // Links are found before redaction, which makes different values look alike.
  const envelope = readEnvelope(text, 0)
  const seen = correlator.observe({ ref: id, envelope, direction, conversation: conversation ?? '' })
  const safe = redactor?.json(text)
  const raw = safe?.raw ?? text
  return {
    type: 'message',
    ...at,
    direction,
    raw,
    ...(safe && { red: safe.red }),
    batch: false,
    parts: [relatePart({ id, envelope, start: 0, end: raw.length }, seen)],
    ...(conversation !== undefined && { conversation }),
  }
}

/**
 * By number, the messages of calls that were sent again: their effects, and the messages they waited for.
 *
 * @param isReplaced by row: 1 for such a call
 */
function leftOut({ script }: Play, isReplaced: (row: number) => number): (number: number) => boolean {
  const left = createIntColumn(0)
  const add = (row: number): void => {
    const number = row === noRow ? -1 : script.number(row)
    if (number >= 0) setRow(left, number, 1)
  }
  for (let call = 0; call < script.length; call += 1) {
    if (isReplaced(call) !== 1) continue
    add(call)
    if (script.kind(script.closedBy(call)) === 'note') add(script.closedBy(call))
    for (let row = script.firstEffect(call); row !== noRow; row = script.nextEffect(row)) {
      add(row)
      if (script.kind(row) === 'question') add(script.closedBy(row))
    }
  }
  return (number) => left.get(number) === 1
}
