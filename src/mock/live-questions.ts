import { idKey } from '../wire/index.js'
import { createGate, type Gate } from './live-call.js'

/** A request of the recorded server that was sent to the live client. */
export interface LiveQuestion {
  readonly row: number
  /** The client's response. */
  readonly replied: Gate
}

/** Our own ids for requests of the server whose recorded id is in use. */
const firstOwnId = 1_000_000_000

/** Requests of the server to one live client, with ids that are unique in its conversation. */
export class LiveQuestions {
  readonly #waiting = new Map<string, LiveQuestion>()
  readonly #usedIds = new Set<string>()
  readonly #idOfRow = new Map<number, string>()
  #lastOwnId = firstOwnId
  #isOver = false

  /** @param recordedId exact JSON text, as is the id of the result */
  ask(row: number, recordedId: string): { readonly id: string; readonly question: LiveQuestion } {
    const id = this.#usedIds.has(idKey(recordedId)) ? String((this.#lastOwnId += 1)) : recordedId
    this.#usedIds.add(idKey(id))
    const question = { row, replied: createGate() }
    if (this.#isOver) question.replied.open(false)
    this.#waiting.set(idKey(id), question)
    this.#idOfRow.set(row, id)
    return { id, question }
  }

  /** The live id of a recorded request. */
  idOf(row: number): string | undefined {
    return this.#idOfRow.get(row)
  }

  /** The client responded. @returns undefined for a response to no request */
  reply(id: string): LiveQuestion | undefined {
    const key = idKey(id)
    const question = this.#waiting.get(key)
    if (!question) return undefined
    this.#waiting.delete(key)
    question.replied.open(true)
    return question
  }

  /** The client sends nothing more. */
  giveUp(): void {
    for (const { replied } of this.#waiting.values()) replied.open(false)
    this.#isOver = true
  }
}
