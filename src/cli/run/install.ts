import { homedir } from 'node:os'
import { realpathSync } from 'node:fs'
import { join, sep } from 'node:path'
import {
  applyPlan,
  clientKinds,
  findClients,
  isPassing,
  launcherPath,
  openLedger,
  planInstall,
  planUninstall,
  probeRemote,
  writeLauncher,
  type FileChange,
  type FoundClient,
  type Places,
  type Plan,
  type ServerChange,
} from '../../clients/index.js'
import { WiretapeError } from '../../model/index.js'
import { countOf, createStyle, escapeLines, escapeText, type Style } from '../../render/index.js'
import { canAsk, confirm } from '../confirm.js'
import { dataFolder, recordingsIn } from '../data-folder.js'
import { exitCode } from '../exit-codes.js'
import type { Io } from '../io.js'

export interface InstallCommandOptions {
  readonly server?: readonly string[]
  readonly all?: boolean
  readonly dryRun?: boolean
  readonly tracked?: boolean
  readonly keep?: string
  readonly tagKey?: boolean
  readonly json?: boolean
}

/** Default of `--keep` for installed recorders. */
const defaultKeep = '30d,2GB'

export function placesOf(io: Pick<Io, 'cwd'>): Places {
  return { home: homedir(), cwd: io.cwd, platform: process.platform, env: process.env }
}

/** Puts the recorder in front of the servers of clients. */
export async function runInstall(
  clients: readonly string[],
  options: InstallCommandOptions,
  io: Io,
): Promise<number> {
  const program = realpathSync(process.argv[1]!)
  if (isPassing(program)) {
    throw new WiretapeError('usage', 'npx deletes this copy of wiretape after a while', {
      hint: 'install it permanently (npm install --global . in a clone), then run install again',
    })
  }
  const found = await select(clients, options, io)
  if (found.length === 0) return nothingFound(clients, io)
  const { platform } = process
  const launcher = launcherPath({ dataFolder: io.dataFolder, platform })
  // Clients do not pass the terminal's environment to their servers.
  const isUsual = dataFolder({ LOCALAPPDATA: process.env['LOCALAPPDATA'] }) === io.dataFolder
  const plan = await planInstall(found, {
    launcher,
    keep: options.keep ?? defaultKeep,
    more: [
      ...(isUsual ? [] : ['--out', recordingsIn(io.dataFolder)]),
      ...(options.tagKey ? ['--tag-key', join(io.dataFolder, 'tags.key')] : []),
    ],
    names: options.server ?? [],
    tracked: options.tracked === true,
    folder: io.cwd,
    probe: (launch) => probeRemote(launch, process.env),
    now: () => new Date(),
  })
  checkNames(plan, options)
  return carryOut(plan, found, 'install', options, io, async () => {
    await writeLauncher({ dataFolder: io.dataFolder, platform, node: process.execPath, program })
  })
}

/** Removes the recorder. */
export async function runUninstall(
  clients: readonly string[],
  options: InstallCommandOptions,
  io: Io,
): Promise<number> {
  const ledger = await openLedger(io.dataFolder)
  // Entries of other projects also need the launcher, which may be removed next.
  const found = await select(clients, options, io, ledger.folders())
  if (found.length === 0) return nothingFound(clients, io)
  const plan = await planUninstall(found, ledger, options.server ?? [])
  checkNames(plan, options)
  return carryOut(plan, found, 'uninstall', options, io)
}

async function select(
  clients: readonly string[],
  { all }: InstallCommandOptions,
  io: Io,
  folders: readonly string[] = [],
): Promise<FoundClient[]> {
  const unknown = clients.find((id) => !clientKinds.some((kind) => kind.id === id))
  if (unknown !== undefined) {
    throw new WiretapeError('usage', `unknown client ${unknown}`, {
      hint: `known clients: ${clientKinds.map(({ id }) => id).join(', ')}`,
    })
  }
  if (all && clients.length > 0)
    throw new WiretapeError('usage', '--all and client names cannot be combined', {
      hint: 'name clients or use --all',
    })
  return findClients(placesOf(io), clients, folders)
}

async function nothingFound(clients: readonly string[], io: Io): Promise<number> {
  const which = clients.length > 0 ? clients.join(', ') : 'any MCP client'
  await io.write(`No configuration of ${which} found for this user and folder.\n`)
  return clients.length > 0 ? exitCode.found : exitCode.done
}

function checkNames({ servers }: Plan, { server }: InstallCommandOptions): void {
  const missing = server?.find((name) => !servers.some((row) => row.name === name))
  if (missing === undefined) return
  throw new WiretapeError('usage', `no client has the server ${missing}`, {
    hint: 'list the servers of every client with wiretape status',
  })
}

async function carryOut(
  plan: Plan,
  found: readonly FoundClient[],
  verb: 'install' | 'uninstall',
  options: InstallCommandOptions,
  io: Io,
  prepare?: () => Promise<void>,
): Promise<number> {
  const style = createStyle(io.colours)
  if (options.dryRun) {
    await io.write(await diffs(plan.files, style))
    await io.write(report(plan, found, verb, true, style))
    return exitCode.done
  }
  const changes = plan.servers.filter(({ outcome }) => outcome === 'changed').length
  if (changes > 0 && !options.all && !options.server && !(await agreed(plan, found, verb, style, io)))
    return exitCode.done
  const ledger = await openLedger(io.dataFolder)
  if (changes > 0) await prepare?.()
  const failed = await applyPlan(plan.files, ledger)
  const paths = new Set(failed.map(({ path }) => path))
  const servers = plan.servers.map((row): ServerChange =>
    row.outcome === 'changed' && paths.has(row.place.path)
      ? { ...row, outcome: 'left', reason: failed.find(({ path }) => path === row.place.path)!.reason }
      : row,
  )
  await io.write(report({ ...plan, servers }, found, verb, false, style))
  return failed.length > 0 ? exitCode.found : exitCode.done
}

/** Shows the plan and asks, if neither servers nor `--all` are given. */
async function agreed(
  plan: Plan,
  found: readonly FoundClient[],
  verb: string,
  style: Style,
  io: Io,
): Promise<boolean> {
  if (!canAsk()) {
    throw new WiretapeError('usage', `the servers to ${verb} are needed`, {
      hint: `use --all for every server, --server NAME for one, --dry-run for a preview`,
    })
  }
  await io.write(report(plan, found, verb as 'install', true, style))
  await io.flush()
  return confirm('Continue?')
}

const signs = { changed: '+', same: '=', left: '-' } as const

function report(
  plan: Plan,
  found: readonly FoundClient[],
  verb: 'install' | 'uninstall',
  isDry: boolean,
  style: Style,
): string {
  const lines: string[] = []
  const done = verb === 'install' ? 'recorded' : 'as it was before'
  const already = verb === 'install' ? 'already recorded' : 'not recorded'
  for (const { client, files, managedBy } of found) {
    for (const { place, fault, file } of files) {
      const rows = plan.servers.filter((row) => row.client === client && row.place === place)
      if (rows.length === 0 && fault === undefined) continue
      const scope = place.scope === 'user' ? '' : ` (${place.scope})`
      lines.push(`${style.bold(client.name)}${scope}  ${style.dim(escapeText(shortened(place.path)))}`)
      if (fault !== undefined) lines.push(`  - ${escapeText(`this file cannot be read: ${fault}`)}`)
      if (file && file.real !== place.path) lines.push(style.dim(`    → ${escapeText(shortened(file.real))}`))
      for (const { name, outcome, reason } of rows) {
        const words =
          outcome === 'changed'
            ? isDry
              ? `would be ${done}`
              : done
            : outcome === 'same'
              ? already
              : `unchanged: ${reason}`
        const tone = { changed: style.green, same: style.dim, left: style.yellow }[outcome]
        lines.push(`  ${tone(signs[outcome])} ${escapeText(name)}  ${escapeText(words)}`)
      }
    }
    if (files.length === 0 && managedBy !== undefined)
      lines.push(`${style.bold(client.name)}  unchanged: ${escapeText(managedBy)} controls which servers run`)
  }
  const changes = plan.servers.filter(({ outcome }) => outcome === 'changed').length
  if (changes === 0) lines.push(plan.servers.length === 0 ? 'No servers found.' : 'Nothing to change.')
  else if (!isDry) {
    lines.push(
      '',
      `${countOf(changes, 'server')} ${verb === 'install' ? 'will be recorded' : 'restored'}. Restart the clients to use the new configuration.`,
    )
    if (verb === 'install') lines.push('List recordings: wiretape ls. Undo: wiretape uninstall --all.')
  }
  if (process.platform !== 'linux' && changes > 0)
    lines.push(`The configuration paths and the launcher are untested on this system (${process.platform}).`)
  return `${lines.join('\n')}\n`
}

export function shortened(path: string): string {
  const home = homedir()
  return path.startsWith(home + sep) ? `~${path.slice(home.length)}` : path
}

async function diffs(files: readonly FileChange[], style: Style): Promise<string> {
  const { createTwoFilesPatch } = await import('diff')
  return files
    .map(({ file, text }) => {
      const patch = createTwoFilesPatch(file.real, file.real, file.text, text, 'now', 'then', { context: 2 })
      const lines = patch.split('\n').slice(1)
      return lines
        .map((line) => {
          const safe = escapeLines(line)
          if (/^\+(?!\+\+ )/.test(line)) return style.green(safe)
          return /^-(?!-- )/.test(line) ? style.red(safe) : safe
        })
        .join('\n')
    })
    .join('\n')
}
