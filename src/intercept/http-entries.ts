import { randomUUID } from 'node:crypto'
import type { Direction } from '../model/index.js'
import type { Forwarded, Verdict } from './frame.js'
import type { Head } from './http-lanes.js'
import type { Ledger } from './ledger.js'

const unsent = { sizeBytes: 0, endOffset: 0 }

/** Records the gate's decisions about HTTP messages on the tape. Byte offsets are not counted. */
export interface HttpEntries {
  judged(head: Head, direction: Direction, verdict: NonNullable<Verdict>): void
  released(id: string, how: Pick<Forwarded, 'text' | 'kept' | 'heldMs' | 'rule'>): void
  dropped(id: string, how: { readonly why: string; readonly rule?: string }): void
  /** A message from wiretape to the client. */
  ours(exchange: number, text: string, rule: string | undefined, id?: string): void
  note(text: string): void
  /** A request from wiretape, recorded as its own HTTP exchange. */
  own(exchange: number, id: string, rule: string | undefined): void
}

export function createHttpEntries(ledger: Ledger): HttpEntries {
  const by = (rule: string | undefined): { rule?: string } => (rule === undefined ? {} : { rule })
  return {
    judged({ exchange }, direction, verdict) {
      const { id, rule } = verdict
      const place = { exchange, direction }
      if (verdict.kind === 'hold')
        return ledger.enter({ kind: 'verdict', place, id, verdict: { kind: 'hold', ...by(rule) } })
      const { text, kept } = verdict
      const instead = { ...(text !== undefined && { text }), ...(kept && { kept }) }
      const pass = { kind: 'pass' as const, sizeBytes: 0, ...by(rule), ...instead }
      return ledger.enter({ kind: 'verdict', place, id, verdict: pass })
    },
    released(id, { text, kept, heldMs, rule }) {
      const changed = text === undefined ? {} : { text, ...(kept && { kept }) }
      ledger.enter({ kind: 'release', id, sent: unsent, heldMs, ...changed, ...by(rule) })
    },
    dropped: (id, { why, rule }) => ledger.enter({ kind: 'drop', id, why, ...by(rule) }),
    ours(exchange, text, rule, id = randomUUID()) {
      const direction = 'server_to_client'
      ledger.enter({ kind: 'inject', id, direction, text, sent: unsent, exchange, ...by(rule) })
    },
    note: (text) => ledger.enter({ kind: 'note', text }),
    own(exchange, id, rule) {
      const place = { exchange, direction: 'client_to_server' as const }
      ledger.enter({ kind: 'verdict', place, id, verdict: { kind: 'ours', ...by(rule) } })
    },
  }
}
