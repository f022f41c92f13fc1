import { idLength, type Direction, type MessageIds } from '../../model/index.js'
import { encodeHead } from './encode.js'
import { bytesOf } from '../../wire/index.js'

/** The line of one unchanged message with its recorded data. Ids are positions (`MessageIds`). */
export interface MessageLine {
  /** As in records. */
  t: string
  direction: Direction
  us: number
  seq: number
  /** The message in `bytes`. */
  bytes: Uint8Array
  start: number
  end: number
  /** An id that is not a position is a text. */
  id: string | number
  answers: string | number | undefined
  late: boolean
  duplicateOf: string | number | undefined
}

/** Maximum number of bytes of a line besides head and message. */
const mostAround = 3 * idLength + 160

/** Writes lines of plain messages as bytes, without a record or a text. Same output as `encodeRecord`. */
export class MessageLineEncoder {
  readonly #heads = {
    client_to_server: { t: '', bytes: bytesOf('') },
    server_to_client: { t: '', bytes: bytesOf('') },
  }

  /** Maximum number of bytes that `write` needs. */
  mostBytes({ start, end }: MessageLine): number {
    return end - start + mostAround
  }

  /** Returns the index after the line. @param ids of positions; needed if the line has any */
  write(line: MessageLine, ids: MessageIds | undefined, target: Uint8Array, start: number): number {
    let at = copied(this.#headOf(line), target, start)
    at = copiedRange(line.bytes, line.start, line.end, target, at)
    at = writeId(line.id, ids, target, copied(words.id, target, at))
    if (line.answers !== undefined) at = writeId(line.answers, ids, target, copied(words.corr, target, at))
    target[at++] = QUOTE
    if (line.late) at = copied(words.late, target, at)
    if (line.duplicateOf !== undefined) {
      at = writeId(line.duplicateOf, ids, target, copied(words.dup, target, at))
      target[at++] = QUOTE
    }
    at = writeCount(line.seq, target, copied(words.seq, target, at))
    at = writeCount(line.us, target, copied(words.us, target, at))
    return copied(lineEnd, target, at)
  }

  #headOf({ t, direction }: MessageLine): Uint8Array {
    const head = this.#heads[direction]
    if (head.t !== t) {
      head.t = t
      head.bytes = bytesOf(encodeHead(t, direction))
    }
    return head.bytes
  }
}

const QUOTE = 0x22
const words = {
  id: bytesOf(',"id":"'),
  corr: bytesOf('","corr":"'),
  late: bytesOf(',"late":true'),
  dup: bytesOf(',"dup":"'),
  seq: bytesOf(',"seq":'),
  us: bytesOf(',"us":'),
}
/** End of a line without further members. */
export const lineEnd = bytesOf('}\n')

/** Up to this length, a loop is faster than a view and a call. */
const copiedByHand = 200

function copied(source: Uint8Array, target: Uint8Array, at: number): number {
  for (let i = 0; i < source.length; i += 1) target[at + i] = source[i]!
  return at + source.length
}

function copiedRange(source: Uint8Array, start: number, end: number, target: Uint8Array, at: number): number {
  if (end - start > copiedByHand) target.set(source.subarray(start, end), at)
  else for (let i = start; i < end; i += 1) target[at + i - start] = source[i]!
  return at + end - start
}

/** Digits of a non-negative integer. */
function writeCount(count: number, target: Uint8Array, start: number): number {
  let end = start + 1
  for (let rest = count; rest >= 10; rest = Math.floor(rest / 10)) end += 1
  let rest = count
  for (let at = end - 1; at >= start; at -= 1) {
    const tens = Math.floor(rest / 10)
    target[at] = 0x30 + rest - 10 * tens
    rest = tens
  }
  return end
}

function writeId(
  id: string | number,
  ids: MessageIds | undefined,
  target: Uint8Array,
  start: number,
): number {
  if (typeof id === 'number') return ids!.write(id, target, start)
  for (let i = 0; i < id.length; i += 1) target[start + i] = id.charCodeAt(i)
  return start + id.length
}
