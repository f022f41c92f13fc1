import type { Rules } from './decision.js'
import { faultLine, loadRules, stampOf, type LoadedRules } from './load-rules.js'
import { createRules } from './rules-engine.js'

/** Rules of a file that is read again whenever it changes. */
export interface WatchedRules {
  readonly path: string
  /** The rules in force; another object after a change. */
  readonly current: Rules
  /** Why the file as it is now was not taken, in one line; the rules before are in force. */
  readonly fault: string | undefined
  close(): void
}

export interface WatchRulesOptions {
  /** What the file is called in sentences. @default its path */
  readonly name?: string
  /** Called after a change: the rules were taken, or `fault` says why not. */
  readonly onChange?: (rules: WatchedRules) => void
  /** Milliseconds between two looks at the file. @default 500 */
  readonly intervalMs?: number
}

/** Rules in force, or why there are none. */
export type StartedRules =
  | { readonly rules: WatchedRules; readonly fault?: never }
  | { readonly fault: string; readonly rules?: never }

/**
 * Reads a rules file and goes on looking at it. Editors write files anew under their name, which notifications of the
 * system miss; so it is looked at. Does not keep the process alive.
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
