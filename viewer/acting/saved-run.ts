import { signal } from '@preact/signals'
import type { SavedFile, SavedServerShown } from '../../src/saved-calls/index.js'
import { askToAct } from './channel.js'
import { wordsOf } from './state.js'

/** An exchange in the report of `wiretape run`. */
export interface Outcome {
  readonly verdict: string
  readonly call: { readonly file: string; readonly name: string }
  readonly differences: readonly {
    readonly path: string
    readonly before?: unknown
    readonly after?: unknown
    readonly beforeCut?: string
    readonly afterCut?: string
  }[]
  readonly notes?: readonly string[]
  readonly after?: { readonly failure?: string }
}

/** A server that starts or is reached only after consent: its code goes with the command. */
export type ShownServer = Omit<SavedServerShown, 'key'> & { readonly code: string }

/** Calls to run: a file, or one call of it. */
export interface Wanted {
  readonly file: string
  readonly name?: string
}

export const saved = signal<{ readonly folder: string; readonly files: readonly SavedFile[] } | undefined>(
  undefined,
)
export const outcomes = signal<ReadonlyMap<string, Outcome>>(new Map())
export const running = signal(false)
export const fault = signal('')
/** Servers that wait for consent, and the calls to run after it. */
export const asking = signal<
  { readonly servers: readonly ShownServer[]; readonly wanted: readonly Wanted[] } | undefined
>(undefined)

/** Values that a person set, by file and name. */
const given = new Map<string, Record<string, string>>()
/** Number of the last request for the list. Responses to earlier ones are dropped: they know older values. */
let lastLoad = 0
/** Codes of servers with consent. They are valid in this page only. */
const codes = new Set<string>()

export const keyOf = (file: string, name: string): string => JSON.stringify([file, name])

export function valueOf(file: string, name: string): string | undefined {
  return given.get(file)?.[name]
}

/** Sets a variable for the next runs; an empty text restores the value of the file. */
export function setVariable(file: string, name: string, value: string): void {
  const { [name]: _, ...others } = given.get(file) ?? {}
  given.set(file, value === '' ? others : { ...others, [name]: value })
  void load()
}

export async function load(): Promise<void> {
  lastLoad += 1
  const own = lastLoad
  try {
    const found = (await (given.size === 0
      ? askToAct('./api/saved')
      : askToAct('./api/saved', { type: 'list', given: Object.fromEntries(given) }))) as typeof saved.value
    if (own === lastLoad) saved.value = found
  } catch {
    // This wiretape has no saved calls.
  }
}

/** Runs calls. Servers without consent are shown first, all at once. */
export async function run(wanted: readonly Wanted[]): Promise<void> {
  running.value = true
  fault.value = ''
  try {
    const servers = new Map<string, ShownServer>()
    for (const one of wanted) {
      const { ask = [] } = await command('ask', one)
      for (const server of ask) {
        const { code: _, ...rest } = server
        servers.set(JSON.stringify(rest), server)
      }
    }
    if (servers.size > 0) asking.value = { servers: [...servers.values()], wanted }
    else for (const one of wanted) await runOne(one, wanted)
  } catch (error) {
    fault.value = wordsOf(error)
  } finally {
    running.value = false
  }
}

export async function consent(): Promise<void> {
  const asked = asking.value
  if (!asked) return
  for (const { code } of asked.servers) codes.add(code)
  asking.value = undefined
  await run(asked.wanted)
}

async function runOne(one: Wanted, wanted: readonly Wanted[]): Promise<void> {
  const { exchanges = [], ask } = await command('run', one)
  // The file has changed since it was shown.
  if (ask) asking.value = { servers: ask, wanted }
  const next = new Map(outcomes.value)
  for (const each of exchanges) next.set(keyOf(each.call.file, each.call.name), each)
  outcomes.value = next
}

async function command(
  type: 'ask' | 'run',
  { file, name }: Wanted,
): Promise<{ readonly exchanges?: readonly Outcome[]; readonly ask?: readonly ShownServer[] }> {
  const values = given.get(file) ?? {}
  return (await askToAct('./api/saved', {
    type,
    file,
    ...(name !== undefined && { name }),
    given: values,
    codes: [...codes].slice(-200),
  })) as { readonly exchanges?: readonly Outcome[]; readonly ask?: readonly ShownServer[] }
}
