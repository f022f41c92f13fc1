import type { Envelope } from './envelope.js'

/** Answers of the recorder that wait for a restart to be told. */
const mostWaiting = 1_000

/**
 * Finds the answers that the recorder gave in the place of a server that was started again. On stdio the recorder marks
 * them itself. Over HTTP they pass like others; the note of the restart says how many there were.
 */
export class RestartAnswers {
  readonly #mark: (row: number) => void
  #rows: number[] = []
  /** Answers that the last restart speaks of and that did not come yet. */
  #owed = 0

  /** @param mark is told of each such row */
  constructor(mark: (row: number) => void) {
    this.#mark = mark
  }

  /** The next row of the server. A server may use these words too: then nothing comes of it, as no restart is told. */
  take(row: number, { kind, errorCode, errorMessage }: Envelope): void {
    if (kind !== 'error' || errorCode !== '503' || errorMessage?.startsWith('wiretape: the server ') !== true)
      return
    if (this.#owed > 0) {
      this.#owed -= 1
      this.#mark(row)
    } else if (this.#rows.length < mostWaiting) this.#rows.push(row)
  }

  /** @param count how many requests got such an answer */
  restarted(count: number): void {
    const rows = count > 0 ? this.#rows.slice(-count) : []
    for (const row of rows) this.#mark(row)
    this.#owed = Math.min(count - rows.length, mostWaiting)
    this.#rows = []
  }
}
