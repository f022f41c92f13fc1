import { idLength, type Direction, type MessageIds } from '../../model/index.js'
import { encodeHead } from './encode.js'
import { bytesOf, nowhere, messageMemory } from '../../wire/index.js'

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
  /** Of `bytes` in `messageMemory`, or `nowhere`. */
  address: number
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
  readonly #heads = { client_to_server: new Head(), server_to_client: new Head() }

  /** Maximum number of bytes that `write` needs. */
  mostBytes({ start, end }: MessageLine): number {
    return end - start + mostAround
  }

  /**
   * Returns the index after the line. Few loops: what the engine copies into this function, it compiles again.
   *
   * @param ids of positions; needed if the line has any
   * @param address of `target` in `messageMemory`
   */
  write(
    line: MessageLine,
    ids: MessageIds | undefined,
    target: Uint8Array,
    start: number,
    address = nowhere,
  ): number {
    const { direction } = line
    const heads =
      direction === 'client_to_server' ? this.#heads.client_to_server : this.#heads.server_to_client
    const head = heads.of(line)
    if (ids && heads.address !== nowhere && line.address !== nowhere && address !== nowhere) {
      const end = writeInMemory(line, ids, heads.address, head.length, address, start)
      if (end >= 0) return end
    }
    let at = copied(head, target, start)
    at = copiedRange(line.bytes, line.start, line.end, target, at)
    const idsEnd = copied(line.answers === undefined ? idMember : idMembers, target, at)
    writeId(line.id, ids, target, at + idAt)
    if (line.answers !== undefined) writeId(line.answers, ids, target, at + answersAt)
    at = idsEnd
    if (line.late || line.duplicateOf !== undefined) at = writeRare(line, ids, target, at)
    at = writeCount(line.seq, target, copied(words.seq, target, at))
    return writeEnd(line.us, target, at)
  }
}

const encoder = new TextEncoder()
/** A longer beginning is not kept in the memory. */
const mostHead = 64

/** The beginning of the lines of a direction, which changes with the time. */
class Head {
  #t = ''
  #bytes: Uint8Array = new Uint8Array(0)
  readonly #room = messageMemory?.take(mostHead)
  address = nowhere

  of({ t, direction }: MessageLine): Uint8Array {
    if (this.#t === t) return this.#bytes
    this.#t = t
    const text = encodeHead(t, direction)
    const room = text.length <= mostHead ? this.#room : undefined
    this.address = room?.byteOffset ?? nowhere
    return (this.#bytes = room
      ? room.subarray(0, encoder.encodeInto(text, room).written)
      : encoder.encode(text))
  }
}

/** As `MessageLineEncoder.write`, with addresses; -1 for an unusual line. */
function writeInMemory(
  { id, answers = -1, late, duplicateOf, address, start, end, seq, us }: MessageLine,
  ids: MessageIds,
  head: number,
  headLength: number,
  target: number,
  at: number,
): number {
  if (late || duplicateOf !== undefined || typeof id !== 'number' || typeof answers !== 'number') return -1
  const memory = messageMemory!
  memory.useKey(ids.key)
  const { write } = memory.call
  return write(head, headLength, address + start, address + end, id, answers, seq, us, target + at) - target
}

const QUOTE = 0x22
const noId = '0'.repeat(idLength)
/** The members before `seq`, with room for ids. */
const idMember = bytesOf(`,"id":"${noId}"`)
const idMembers = bytesOf(`,"id":"${noId}","corr":"${noId}"`)
const idAt = ',"id":"'.length
const answersAt = idAt + idLength + '","corr":"'.length
const words = {
  late: bytesOf(',"late":true'),
  dup: bytesOf(',"dup":"'),
  seq: bytesOf(',"seq":'),
  us: bytesOf(',"us":'),
}
/** End of a line without further members. */
export const lineEnd = bytesOf('}\n')

/** Up to this length, a loop is faster than a view and a call. */
const copiedByHand = 200

export function copied(source: Uint8Array, target: Uint8Array, at: number): number {
  for (let i = 0; i < source.length; i += 1) target[at + i] = source[i]!
  return at + source.length
}

function copiedRange(source: Uint8Array, start: number, end: number, target: Uint8Array, at: number): number {
  if (end - start > copiedByHand) target.set(source.subarray(start, end), at)
  else for (let i = start; i < end; i += 1) target[at + i - start] = source[i]!
  return at + end - start
}

/** The member `us` and the end of the line. */
function writeEnd(us: number, target: Uint8Array, start: number): number {
  return copied(lineEnd, target, writeCount(us, target, copied(words.us, target, start)))
}

/** Digits of a non-negative integer. */
export function writeCount(count: number, target: Uint8Array, start: number): number {
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

function writeRare(
  { late, duplicateOf }: MessageLine,
  ids: MessageIds | undefined,
  target: Uint8Array,
  start: number,
): number {
  let at = late ? copied(words.late, target, start) : start
  if (duplicateOf === undefined) return at
  at = copied(words.dup, target, at)
  writeId(duplicateOf, ids, target, at)
  at += idLength
  target[at] = QUOTE
  return at + 1
}

/** All ids have the same length. */
function writeId(id: string | number, ids: MessageIds | undefined, target: Uint8Array, start: number): void {
  if (typeof id === 'number') ids!.write(id, target, start)
  else for (let i = 0; i < id.length; i += 1) target[start + i] = id.charCodeAt(i)
}
