import { findingTests, nearestTo, type Filter } from '../filter/index.js'
import {
  createFindings,
  findingsByRow,
  packs,
  rules,
  type Finding,
  type FindingsByRow,
  type RecordingFindings,
} from '../findings/index.js'
import { WiretapeError, type Fold } from '../model/index.js'
import { escapeText } from '../render/index.js'
import type { RecordWatcher } from './recordings.js'

/** Findings of rules while recordings are loaded, all in one run. */
export interface FoundRows {
  readonly watch: (fold: Fold) => RecordWatcher
  /** Call after loading the recording. */
  of(fold: Fold): FoundInRecording
}

export interface FoundInRecording extends FindingsByRow {
  readonly found: readonly Finding[]
  /** Number of findings beyond the limit. */
  readonly left: number
}

export function createFoundRows(): FoundRows {
  const engine = createFindings(rules)
  const runs = new Map<Fold, RecordingFindings>()
  const done = new Map<Fold, FoundInRecording>()
  return {
    watch(fold) {
      const run = engine.begin(fold)
      runs.set(fold, run)
      return (record, rows) => run.take(record, rows)
    },
    of(fold) {
      const known = done.get(fold)
      if (known) return known
      const run = runs.get(fold)!
      run.finish()
      const { found, left } = run
      const made = { found, left, ...findingsByRow(found) }
      done.set(fold, made)
      return made
    },
  }
}

/** @throws WiretapeError `usage` for an unknown rule name */
export function checkFindingNames({ condition }: Filter, option = '--filter'): void {
  const names = [...packs, ...rules.map(({ info }) => info.id)]
  for (const asked of findingTests(condition)) {
    if (asked.kind !== 'finding' || asked.test.how !== 'exact' || names.includes(asked.test.text)) continue
    const near = nearestTo(asked.test.text, names)
    const known = near === undefined ? '' : ` (did you mean ${near}?)`
    throw new WiretapeError(
      'usage',
      `${option}: unknown rule or pack ${escapeText(JSON.stringify(asked.test.text))}${known}`,
      { hint: 'list the rules with wiretape check --list-rules' },
    )
  }
}
