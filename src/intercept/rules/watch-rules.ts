import type { Rules } from './rules.js'
import { faultLine, loadRules, stampOf, type LoadedRules } from './load-rules.js'
import { createRules } from './rules-engine.js'

/** Rules from a file that is reloaded on every change. */
export interface WatchedRules {
  readonly path: string
  /** The rules in force; a new object after a change. */
  readonly current: Rules
  /** Why the current file was rejected, in one line; the previous rules stay in force. */
  readonly fault: string | undefined
  close(): void
}

export interface WatchRulesOptions {
  /** Name of the file in sentences. @default its path */
  readonly name?: string
  /** Called after a change: the rules were replaced, or `fault` gives the reason why not. */
  readonly onChange?: (rules: WatchedRules) => void
  /** Polling interval in milliseconds. @default 500 */
  readonly intervalMs?: number
}

/** Rules in force, or why there are none. */
export type StartedRules =
  | { readonly rules: WatchedRules; readonly fault?: never }
  | { readonly fault: string; readonly rules?: never }

/**
 * Loads a rules file and polls it for changes. Editors replace files under the same name, which file system
 * notifications miss. Does not keep the process alive.
 */
export async function watchRules(path: string, options: WatchRulesOptions = {}): Promise<StartedRules> {
  const loaded = await loadRules(path)
  const { name = path } = options
  if (!loaded.parsed) return { fault: faultLine(name, loaded.diagnostics) }
  return { rules: new RulesWatch(loaded, createRules(loaded.parsed), name, options) }
}

class RulesWatch implements WatchedRules {
  readonly path: string
  current: Rules
  fault: string | undefined
  #files: ReadonlyMap<string, string>
  readonly #name: string
  readonly #timer: ReturnType<typeof setInterval>
  #looking = false
  #closed = false

  constructor(
    loaded: LoadedRules,
    rules: Rules,
    name: string,
    { onChange, intervalMs = 500 }: WatchRulesOptions,
  ) {
    this.path = loaded.path
    this.current = rules
    this.#files = loaded.files
    this.#name = name
    this.#timer = setInterval(() => void this.#look(onChange), intervalMs)
    this.#timer.unref()
  }

  close(): void {
    this.#closed = true
    clearInterval(this.#timer)
  }

  async #look(onChange: ((rules: WatchedRules) => void) | undefined): Promise<void> {
    if (this.#looking) return
    this.#looking = true
    try {
      if (!(await this.#hasChanged())) return
      const loaded = await loadRules(this.path)
      if (this.#closed) return
      this.#files = loaded.files
      this.fault = loaded.parsed ? undefined : faultLine(this.#name, loaded.diagnostics)
      if (loaded.parsed) this.current = createRules(loaded.parsed, this.current)
      onChange?.(this)
    } finally {
      this.#looking = false
    }
  }

  async #hasChanged(): Promise<boolean> {
    for (const [file, stamp] of this.#files) if ((await stampOf(file)) !== stamp) return true
    return false
  }
}
