import type { TapeRecord } from '../../model/index.js'
import type { Recording } from '../format.js'

/** Whether the request at an index among a recording's messages has a response. */
export type Answered = (index: number) => boolean

/**
 * Reads a recording once. Remembers one bit per message, and ids of open requests only.
 *
 * @param recording its messages must have ids
 */
export async function findAnswered(recording: Recording): Promise<Answered> {
  let bits = new Uint8Array(1024)
  const open = new Map<string, number>()
  let index = 0
  function mark(at: number): void {
    const byte = at >> 3
    if (byte >= bits.length) {
      const larger = new Uint8Array(Math.max(bits.length * 2, byte + 1))
      larger.set(bits)
      bits = larger
    }
    bits[byte]! |= 1 << (at & 7)
  }
  function see(record: TapeRecord): void {
    if (record.type !== 'message') return
    for (const { id, envelope, correlatedId, late } of record.parts) {
      if (envelope.kind === 'request' && id !== undefined) open.set(id, index)
      const request = correlatedId === undefined || late ? undefined : open.get(correlatedId)
      if (request !== undefined) {
        open.delete(correlatedId!)
        mark(request)
      }
      index += 1
    }
  }
  for await (const record of recording.records()) see(record)
  return (at) => ((bits[at >> 3] ?? 0) & (1 << (at & 7))) !== 0
}
