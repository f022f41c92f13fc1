import type { Envelope } from '../model/index.js'
import type { Message } from '../wire/index.js'
import type { PersonsAnswer, SessionEvent } from './session-event.js'

/** Concurrently waiting questions. */
export const mostQuestions = 100

interface Question extends Message {
  settle(answer: PersonsAnswer): void
}

/** Requests of a server that wait for a person. */
export class Questions {
  readonly #tell: (event: SessionEvent) => void
  readonly #waiting = new Map<string, Question>()
  #made = 0

  constructor(tell: (event: SessionEvent) => void) {
    this.#tell = tell
  }

  get isFull(): boolean {
    return this.#waiting.size >= mostQuestions
  }

  waiting(): { readonly question: string; readonly text: string }[] {
    return [...this.#waiting].map(([question, { text }]) => ({ question, text }))
  }

  /** @returns the name of the question */
  add(text: string, envelope: Envelope, settle: Question['settle']): string {
    this.#made += 1
    const question = `q${this.#made}`
    this.#waiting.set(question, { text, envelope, settle })
    this.#tell({ type: 'question', question, text })
    return question
  }

  /** @returns why the answer is refused */
  answer(question: string, answer: PersonsAnswer): string | undefined {
    const waiting = this.#waiting.get(question)
    if (!waiting) return 'the server is no longer waiting for this response'
    this.drop(question)
    waiting.settle(answer)
    return undefined
  }

  drop(question: string): void {
    if (this.#waiting.delete(question)) this.#tell({ type: 'settled', question })
  }

  /** Drops the requests with this id, as exact JSON text. */
  cancel(id: string | undefined): void {
    if (id === undefined) return
    for (const [question, { envelope }] of this.#waiting) if (envelope.id === id) this.drop(question)
  }

  dropAll(): void {
    for (const question of this.#waiting.keys()) this.drop(question)
  }
}
