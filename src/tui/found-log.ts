import {
  createFindings,
  levels,
  rules,
  type Finding,
  type Level,
  type RecordingFindings,
} from '../findings/index.js'
import type { Fold, TapeRecord } from '../model/index.js'

const none: readonly Finding[] = []

/** Findings so far in the messages of a screen. Bounded: only the first ones are kept. */
export class FoundLog {
  readonly #run: RecordingFindings
  readonly #rows = new Map<number, Finding[]>()
  #indexed = 0
  #isOver = false
  #sorted: readonly Finding[] = none
  readonly #counts: Record<Level, number> = { error: 0, warning: 0, note: 0 }

  constructor(fold: Fold) {
    this.#run = createFindings(rules).begin(fold)
  }

  /** Returns the rows with new findings. */
  take(record: TapeRecord, rows: { readonly first: number; readonly count: number }): number[] {
    if (this.#isOver) return []
    this.#run.take(record, rows)
    return this.#index()
  }

  /** Ends the input, and adds the findings that need the end of the recording. */
  finish(): number[] {
    if (this.#isOver) return []
    this.#isOver = true
    this.#run.finish()
    return this.#index()
  }

  /** By level, errors first; then in the order found. */
  get list(): readonly Finding[] {
    const { found } = this.#run
    if (this.#sorted.length !== found.length)
      this.#sorted = levels.flatMap((level) => found.filter((finding) => finding.level === level))
    return this.#sorted
  }

  /** Number of findings not kept. */
  get left(): number {
    return this.#run.left
  }

  get counts(): Readonly<Record<Level, number>> {
    return this.#counts
  }

  at(row: number): readonly Finding[] {
    return this.#rows.get(row) ?? none
  }

  #index(): number[] {
    const { found } = this.#run
    if (this.#indexed === found.length) return []
    const changed: number[] = []
    for (; this.#indexed < found.length; this.#indexed += 1) {
      const finding = found[this.#indexed]!
      this.#counts[finding.level] += 1
      for (const row of new Set(finding.rows)) {
        if (row < 0) continue
        const known = this.#rows.get(row)
        if (known) known.push(finding)
        else this.#rows.set(row, [finding])
        changed.push(row)
      }
    }
    return changed
  }
}
