import type { Envelope } from './envelope.js'

/** Responses of the recorder that wait for the note of a restart. */
const mostWaiting = 1_000

/**
 * Finds the responses that the recorder gave in place of a restarted server. On stdio the recorder marks them. Over
 * HTTP they look like others; the note of the restart holds their number.
 */
export class RestartAnswers {
  readonly #mark: (row: number) => void
  #rows: number[] = []
  /** Responses counted by the last restart that have not arrived yet. */
  #owed = 0

  /** @param mark called for each such row */
  constructor(mark: (row: number) => void) {
    this.#mark = mark
  }

  /** The next row of the server. A server may use the same text: without a restart it has no effect. */
  take(row: number, { kind, errorCode, errorMessage }: Envelope): void {
    if (kind !== 'error' || errorCode !== '503' || errorMessage?.startsWith('wiretape: the server ') !== true)
      return
    if (this.#owed > 0) {
      this.#owed -= 1
      this.#mark(row)
    } else if (this.#rows.length < mostWaiting) this.#rows.push(row)
  }

  /** @param count number of requests that got such a response */
  restarted(count: number): void {
    const rows = count > 0 ? this.#rows.slice(-count) : []
    for (const row of rows) this.#mark(row)
    this.#owed = Math.min(count - rows.length, mostWaiting)
    this.#rows = []
  }
}
