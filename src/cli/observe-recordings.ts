import { createFindings, type Rule } from '../findings/index.js'
import type { Io } from './io.js'
import { loadRecordings } from './recordings.js'

/** Runs one rule over recordings, for what it collects. */
export async function observeRecordings(rule: Rule, files: readonly string[], io: Io): Promise<void> {
  const engine = createFindings([rule])
  const loaded = await loadRecordings(files, io.cwd, (fold) => {
    const findings = engine.begin(fold)
    return (record, rows) => findings.take(record, rows)
  })
  await loaded.close()
}
