import { randomUUID } from 'node:crypto'
import type { Direction } from '../model/index.js'
import { unchanged, type Decision } from './decision.js'
import type { Judgement } from './frame.js'
import type { Head } from './http-lanes.js'
import { unsent, type Ledger } from './ledger.js'

/** Records the gate's decisions about HTTP messages on the tape. Byte offsets are not counted. */
export class HttpEntries {
  readonly #ledger: Ledger

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  judged({ exchange }: Head, direction: Direction, { id, ...decision }: NonNullable<Judgement>): void {
    this.#ledger.enter({ kind: 'judge', place: { exchange, direction }, id, decision, sizeBytes: 0 })
  }

  settled(id: string, decision: Decision, heldMs: number): void {
    this.#ledger.enter({ kind: 'settle', id, decision, heldMs, sent: unsent })
  }

  /** A message from wiretape to the client. */
  ours(exchange: number, text: string, rule: string | undefined, id: string = randomUUID()): void {
    const direction = 'server_to_client'
    this.#ledger.enter({ kind: 'inject', id, direction, text, sent: unsent, exchange, rule })
  }

  note(text: string): void {
    this.#ledger.enter({ kind: 'note', text })
  }

  /** A request from wiretape, recorded as its own HTTP exchange. */
  own(exchange: number, id: string, rule: string | undefined): void {
    const place = { exchange, direction: 'client_to_server' } as const
    const decision = { ...unchanged, rule }
    this.#ledger.enter({ kind: 'judge', place, id, decision, sizeBytes: 0, isOurs: true })
  }
}
