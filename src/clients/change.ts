import { execFile } from 'node:child_process'
import { dirname } from 'node:path'
import type { ClientKind, ConfigPlace } from './catalogue/index.js'
import type { ConfigFile } from './config-file.js'
import { applySplices, createSplicer, parseConfig, type Splice } from './config/index.js'
import { unwrapEntry, wrapEntry } from './edit-entry.js'
import { readEntries, type Launch, type ServerEntry } from './entry.js'
import type { FoundClient, FoundFile } from './find-servers.js'
import { obstacleOf } from './obstacle.js'
import type { Ledger, LedgerEntry } from './ledger.js'
import { readWrapping, type WrapOptions } from './wrapping.js'

const { isDeepStrictEqual } = process.getBuiltinModule('node:util')

/** Planned change of one server. */
export interface ServerChange {
  readonly client: ClientKind
  readonly place: ConfigPlace
  readonly name: string
  /** `changed`: its entry is rewritten. `same`: no change needed. `left`: not possible, for `reason`. */
  readonly outcome: 'changed' | 'same' | 'left'
  readonly reason?: string
}

/** The new text of one file and its changes. */
export interface FileChange {
  readonly file: ConfigFile
  readonly text: string
  readonly ledger: readonly ({ readonly put: LedgerEntry } | { readonly forget: LedgerKey })[]
}

interface LedgerKey {
  readonly file: string
  readonly servers: readonly string[]
  readonly name: string
}

export interface Plan {
  readonly servers: readonly ServerChange[]
  readonly files: readonly FileChange[]
}

export interface InstallOptions extends Omit<WrapOptions, 'label' | 'client'> {
  /** Only these servers; empty: all. */
  readonly names: readonly string[]
  /** Also change project files that git tracks. */
  readonly tracked: boolean
  /** Why a bridge cannot record a remote server; undefined if it can. */
  readonly probe: (launch: Extract<Launch, { kind: 'remote' }>) => Promise<string | undefined>
  readonly isTracked?: (path: string) => Promise<boolean>
  /** The project's folder. */
  readonly folder: string
  readonly now: () => Date
}

/** Plans to put the recorder in front of servers. Writes nothing. */
export async function planInstall(clients: readonly FoundClient[], options: InstallOptions): Promise<Plan> {
  const isTracked = options.isTracked ?? isTrackedByGit
  return plan(clients, options.names, async (found, server, draft) => {
    const { client, place } = found
    const wrapping = readWrapping(server.launch)
    if (wrapping !== undefined && wrapping !== 'damaged') return { outcome: 'same' }
    if (place.scope === 'project' && !options.tracked && (await isTracked(place.path))) {
      return left(
        'git tracks this file, and the entry would name a program on this machine (use --tracked to change it anyway)',
      )
    }
    const reason = await obstacleOf(server, options.probe)
    if (reason !== undefined) return left(reason)
    const edit = wrapEntry(server.node, server.launch, place.dialect, draft.splicer, {
      ...options,
      label: server.name,
      client: client.id,
    })
    if (!edit.splices) return left(edit.reason)
    const isWhole = (launch: Launch): boolean => {
      const read = readWrapping(launch)
      return typeof read === 'object' && isSameTarget(read.original, server.launch)
    }
    draft.change(server, edit.splices, isWhole, (original, wrapped) => ({
      put: {
        file: draft.file.real,
        servers: place.servers,
        name: server.name,
        client: client.id,
        ...(place.scope !== 'user' && { folder: options.folder }),
        original,
        wrapped,
        at: options.now().toISOString(),
      },
    }))
    return { outcome: 'changed' }
  })
}

/** Plans to take the recorder out again. Writes nothing. */
export async function planUninstall(
  clients: readonly FoundClient[],
  ledger: Ledger,
  names: readonly string[],
): Promise<Plan> {
  // Managed rules added after install must not keep our entries in the file.
  const free = clients.map((each) => ({ ...each, managedBy: undefined }))
  return plan(free, names, async ({ place }, server, draft) => {
    const wrapping = readWrapping(server.launch)
    if (wrapping === undefined) return { outcome: 'same' }
    const { start, end } = server.node
    const key = { file: draft.file.real, servers: place.servers, name: server.name }
    const known = ledger.find(key.file, key.servers, key.name)
    if (known && draft.file.text.slice(start, end) === known.wrapped) {
      draft.change(server, [{ start, end, text: known.original }], isPlain, () => ({ forget: key }))
      return { outcome: 'changed' }
    }
    const edit = unwrapEntry(server.node, server.launch, place.dialect, draft.splicer)
    if (!edit.splices) {
      const was = known && `; the entry before install: ${known.original}`
      return left(`${edit.reason}; edit it by hand${was ?? ''}`)
    }
    const original = wrapping === 'damaged' ? undefined : wrapping.original
    const isRestored = (launch: Launch): boolean => original !== undefined && isSameTarget(original, launch)
    draft.change(server, edit.splices, isRestored, () => ({ forget: key }))
    return { outcome: 'changed' }
  })
}

interface Draft {
  readonly file: ConfigFile
  readonly splicer: ReturnType<typeof createSplicer>
  readonly change: (
    server: ServerEntry,
    splices: readonly Splice[],
    check: (launch: Launch) => boolean,
    note: (original: string, changed: string) => FileChange['ledger'][number],
  ) => void
}

interface Pending {
  readonly file: ConfigFile
  readonly syntax: ConfigPlace['syntax']
  readonly edits: Edit[]
}

/** The change of one server, with the rows of each client that shares its file. */
interface Edit {
  readonly splices: readonly Splice[]
  readonly note: FileChange['ledger'][number]
  readonly check: Check
  readonly rows: ServerChange[]
}

/** Required state of a server in the new text. */
interface Check {
  readonly place: ConfigPlace
  readonly name: string
  readonly check: (launch: Launch) => boolean
}

type Decision = Pick<ServerChange, 'outcome' | 'reason'>

function left(reason: string): Decision {
  return { outcome: 'left', reason }
}

/** Two places may be in one file (Claude Code's user and local servers), so splices are collected by file. */
async function plan(
  clients: readonly FoundClient[],
  names: readonly string[],
  decide: (found: FoundFile, server: ServerEntry, draft: Draft) => Promise<Decision>,
): Promise<Plan> {
  const servers: ServerChange[] = []
  const pending = new Map<string, Pending>()
  /** Clients share files: VS Code's builds share the project's, others use symbolic links. */
  const decided = new Map<string, Decision>()
  for (const { client, files, managedBy } of clients) {
    for (const found of files) {
      const { place, file } = found
      for (const server of found.servers) {
        if (names.length > 0 && !names.includes(server.name)) continue
        const base = { client, place, name: server.name }
        if (managedBy !== undefined) {
          servers.push({ ...base, ...left(`${managedBy} controls which servers run`) })
          continue
        }
        let sheet = pending.get(file!.real)
        if (!sheet) {
          sheet = { file: file!, syntax: place.syntax, edits: [] }
          pending.set(file!.real, sheet)
        }
        const { edits } = sheet
        const splicer = createSplicer(file!.text, place.syntax)
        const draft: Draft = {
          file: file!,
          splicer,
          change(entry, made, check, note) {
            const { start, end } = entry.node
            const inside = made.map((each) => ({ ...each, start: each.start - start, end: each.end - start }))
            const original = file!.text.slice(start, end)
            edits.push({
              splices: made,
              note: note(original, applySplices(original, inside)),
              check: { place, name: entry.name, check },
              rows: [],
            })
          },
        }
        const key = JSON.stringify([file!.real, place.servers, server.name])
        const decision = decided.get(key) ?? (await decide(found, server, draft))
        decided.set(key, decision)
        const row = { ...base, ...decision }
        servers.push(row)
        if (row.outcome !== 'changed') continue
        const isOf = ({ check }: Edit): boolean =>
          check.name === server.name && isDeepStrictEqual(check.place.servers, place.servers)
        edits.find(isOf)!.rows.push(row)
      }
    }
  }
  return settle(servers, [...pending.values()])
}

/**
 * Checks each new text before it is written: it must parse and hold the expected servers. An entry that cannot be
 * changed does not block others.
 */
function settle(servers: ServerChange[], sheets: readonly Pending[]): Plan {
  const files: FileChange[] = []
  for (const { file, syntax, edits } of sheets) {
    const textWith = (some: readonly Edit[]): string =>
      applySplices(
        file.text,
        some.flatMap(({ splices }) => splices),
      )
    const isGood = (some: readonly Edit[]): boolean =>
      isSound(
        file.text,
        textWith(some),
        syntax,
        some.map(({ check }) => check),
      )
    let made: readonly Edit[] = edits
    if (!isGood(made)) made = edits.filter((edit) => isGood([edit]))
    if (!isGood(made)) made = []
    if (made.length > 0) files.push({ file, text: textWith(made), ledger: made.map(({ note }) => note) })
    const reason = 'its entry cannot be edited without rewriting the file'
    for (const row of edits.filter((edit) => !made.includes(edit)).flatMap(({ rows }) => rows))
      servers[servers.indexOf(row)] = { ...row, ...left(reason) }
  }
  return { servers, files }
}

function isSound(
  before: string,
  after: string,
  syntax: ConfigPlace['syntax'],
  checks: readonly Check[],
): boolean {
  const now = parseConfig(after, syntax).root
  const old = parseConfig(before, syntax).root
  if (!now || !old) return false
  return checks.every(({ place: { servers, dialect }, name, check }) => {
    const entries = readEntries(now, servers, dialect)
    const names = readEntries(old, servers, dialect).map((entry) => entry.name)
    const launch = entries.find((entry) => entry.name === name)?.launch
    return (
      isDeepStrictEqual(
        entries.map((entry) => entry.name),
        names,
      ) &&
      launch !== undefined &&
      check(launch)
    )
  })
}

function isPlain(launch: Launch): boolean {
  return readWrapping(launch) === undefined
}

function isSameTarget(a: Launch, b: Launch): boolean {
  if (a.kind !== 'remote' || b.kind !== 'remote') return isDeepStrictEqual(a, b)
  // Header values are in the environment, unchanged.
  const names = ({ headers }: typeof a): string[] => headers.map(([name]) => name)
  return a.url === b.url && isDeepStrictEqual(names(a), names(b))
}

/** Asks git without letting the repository's settings start a program. False without git. */
function isTrackedByGit(path: string): Promise<boolean> {
  const args = ['-c', 'core.fsmonitor=false', '-C', dirname(path), 'ls-files', '--error-unmatch', '--', path]
  return new Promise((resolve) => {
    execFile('git', args, { timeout: 5_000 }, (error) => resolve(error === null))
  })
}
