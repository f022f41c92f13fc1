import type { GateState } from '../control-schema/index.js'
import type { Rules, WatchedRules } from '../intercept/index.js'

/** The rules of a capture: from a file that is reread when it changes, or none. */
export interface RulesInForce {
  readonly current: Rules | undefined
  readonly state: GateState['rules']
  /** Called after a change, with a sentence if a changed file was rejected. @returns unsubscribes */
  onChange(listener: (notice: string | undefined) => void): () => void
  /**
   * @param file absolute; null for no rules
   * @returns why the file is rejected; the previous rules then stay in force
   */
  take(file: string | null): Promise<string | undefined>
  close(): void
}

export function createRulesInForce({
  watchRules,
}: Pick<typeof import('../intercept/index.js'), 'watchRules'>): RulesInForce {
  let watched: WatchedRules | undefined
  const listeners = new Set<(notice: string | undefined) => void>()
  const tell = (notice: string | undefined): void => {
    for (const listener of listeners) listener(notice)
  }
  const rules: RulesInForce = {
    get current() {
      return watched?.current
    },
    get state() {
      if (!watched) return null
      const { path, current, fault } = watched
      return { file: path, count: current.names.length, ...(fault !== undefined && { fault }) }
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async take(file) {
      const started =
        file === null
          ? undefined
          : await watchRules(file, {
              onChange: ({ fault }) => tell(fault && `the previous rules stay in force: ${fault}`),
            })
      if (started?.fault !== undefined) return started.fault
      watched?.close()
      watched = started?.rules
      tell(undefined)
      return undefined
    },
    close: () => watched?.close(),
  }
  return rules
}
