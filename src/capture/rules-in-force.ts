import type { GateState } from '../control-schema/index.js'
import type { Rules, WatchedRules } from '../intercept/index.js'

/** The rules of a capture: of a file that is read again when it changes, or none. */
export interface RulesInForce {
  readonly current: Rules | undefined
  readonly state: GateState['rules']
  /** Called after a change, with a sentence where a changed file was not taken. @returns stops that */
  onChange(listener: (notice: string | undefined) => void): () => void
  /**
   * @param file absolute; null for no rules
   * @returns why the file cannot be taken: what was in force stays so
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
