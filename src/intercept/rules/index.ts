import type { LoadedRules } from './load-rules.js'
import type { StartedRules, WatchRulesOptions } from './watch-rules.js'

export type { RuleFrame, Rules } from './rules.js'
export { GuardedRules, type Guard, type GuardVerdict } from './guard.js'
export { cannotApplyError, cannotApplyWords } from './failure.js'
export type { LoadedRules } from './load-rules.js'
export type { WatchedRules } from './watch-rules.js'

/** As `loadRules` of load-rules.ts. YAML and patterns are loaded only if there are rules. */
export async function loadRules(path: string, given?: AsyncIterable<Uint8Array>): Promise<LoadedRules> {
  const { loadRules } = await import('./load-rules.js')
  return loadRules(path, given)
}

/** As `watchRules` of watch-rules.ts, loaded on demand. */
export async function watchRules(path: string, options?: WatchRulesOptions): Promise<StartedRules> {
  const { watchRules } = await import('./watch-rules.js')
  return watchRules(path, options)
}
