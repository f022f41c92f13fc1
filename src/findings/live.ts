import {
  createRecent,
  isAnswer,
  opposite,
  requestKey,
  type MessageRecord,
  type Transport,
} from '../model/index.js'
import { createFindings } from './engine.js'
import type { Facts, Finding, Rule } from './finding.js'

/** Limit of open requests; a response to an older one is checked without its request. */
const mostAsked = 20_000

/** Applies rules to messages in transit. */
export interface LiveFindings {
  /** @returns the new findings in this record. Pass every message once, in order. */
  take(record: MessageRecord): readonly Finding[]
}

/**
 * Applies rules to messages before they are recorded. Rules must be `live`, since there is no fold.
 *
 * @param idKey canonical form of a JSON-RPC id's exact text
 */
export function createLiveFindings(
  rules: readonly Rule[],
  transport: Transport,
  idKey: (idText: string) => string,
): LiveFindings {
  let row = -1
  let peer = -1
  let found: Finding[] = []
  const asked = createRecent<number>({ entries: mostAsked, chars: 8 << 20, sizeOf: () => 16 })
  const facts: Facts = {
    sessions: [{ transport, label: '', segments: [0], command: [], url: null }],
    entries: {
      length: 0,
      size: () => 0,
      kind: () => 'request',
      direction: () => 'client_to_server',
      latencyUs: () => undefined,
      seq: () => row,
      peer: () => peer,
      linked: () => -1,
      has: () => false,
    },
  }
  const engine = createFindings(rules).begin(facts, (finding) => found.push(finding))

  /** Row of the request that a response belongs to. */
  function peerOf(
    { direction, conversation = '' }: MessageRecord,
    part: MessageRecord['parts'][number],
  ): number {
    const { envelope } = part
    if (envelope.id === undefined) return -1
    const answers = isAnswer(envelope)
    const key = requestKey(conversation, answers ? opposite(direction) : direction, idKey(envelope.id))
    if (!answers) {
      if (envelope.kind === 'request') asked.set(key, row)
      return -1
    }
    const request = asked.get(key) ?? -1
    asked.delete(key)
    return request
  }

  return {
    take(record) {
      found = []
      for (const part of record.parts) {
        row += 1
        peer = peerOf(record, part)
        engine.take({ ...record, parts: [part] }, { first: row, count: 1 })
      }
      return found
    },
  }
}
