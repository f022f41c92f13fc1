import {
  findClients,
  labelOf,
  openLedger,
  readWrapping,
  type FoundClient,
  type FoundFile,
  type Launch,
  type ServerEntry,
} from '../../clients/index.js'
import { createStyle, escapeJson, escapeText, pad, truncate, widthOf } from '../../render/index.js'
import { recordingsIn } from '../data-folder.js'
import { exitCode } from '../exit-codes.js'
import { maxOf } from '../extremes.js'
import { rowsIn, type Row } from '../folder-rows.js'
import type { Io } from '../io.js'
import { placesOf, shortened } from './install.js'

export interface StatusOptions {
  readonly policy?: boolean
  readonly fleet?: boolean
  readonly at?: string
  readonly json?: boolean
}

/** One server of one client, as `status --json` prints it. */
interface ServerStatus {
  readonly client: string
  readonly server: string
  readonly file: string
  readonly scope: string
  readonly transport: 'stdio' | 'remote' | 'unknown'
  /** Command and arguments without the recorder, or the address. */
  readonly command: readonly string[] | null
  readonly url: string | null
  readonly recorded: boolean
  /** Why the entry is not understood; null if it is. */
  readonly problem: string | null
  readonly live: boolean
  readonly lastRecordedAt: string | null
  readonly lastFile: string | null
  readonly recordings: number
}

/** The inventory: every server of every client, with its recordings. */
export async function runStatus(clients: readonly string[], options: StatusOptions, io: Io): Promise<number> {
  const found = await findClients(placesOf(io), clients, (await openLedger(io.dataFolder)).folders())
  const rows = await rowsIn(recordingsIn(io.dataFolder), io)
  const servers = found.flatMap((each) => each.files.flatMap((file) => statusesOf(each, file, rows)))
  const faults = found.flatMap(({ client, files, managedBy }) => [
    ...files.flatMap(({ place, fault }) =>
      fault === undefined ? [] : [{ client: client.id, file: place.path, problem: fault }],
    ),
    ...(managedBy === undefined
      ? []
      : [{ client: client.id, file: managedBy, problem: 'it controls which servers run' }]),
  ])
  if (options.json) {
    await io.write(`${escapeJson(JSON.stringify({ version: 1, servers, problems: faults }, null, 2))}\n`)
    return exitCode.done
  }
  await io.write(
    servers.length === 0 ? 'No MCP servers found in the configuration of any client.\n' : table(servers, io),
  )
  for (const { client, file, problem } of faults)
    await io.write(`${escapeText(`${client}: ${shortened(file)}: ${problem}`)}\n`)
  return exitCode.done
}

function statusesOf(
  { client }: FoundClient,
  { place, servers }: FoundFile,
  rows: readonly Row[],
): ServerStatus[] {
  return servers.map((server) => {
    const wrapping = readWrapping(server.launch)
    const launch: Launch = typeof wrapping === 'object' ? wrapping.original : server.launch
    const own = rows.filter((row) =>
      isOf(row, (typeof wrapping === 'object' && wrapping.client) || client.id, server),
    )
    const last = own.at(-1)
    return {
      client: client.id,
      server: server.name,
      file: place.path,
      scope: place.scope,
      transport: launch.kind === 'other' ? 'unknown' : launch.kind,
      command: launch.kind === 'stdio' ? [launch.command, ...launch.args] : null,
      url: launch.kind === 'remote' ? launch.url : null,
      recorded: typeof wrapping === 'object',
      problem:
        wrapping === 'damaged'
          ? 'its arguments no longer contain the original command'
          : launch.kind === 'other'
            ? launch.reason
            : null,
      live: own.some(({ state }) => state === 'live'),
      lastRecordedAt: last?.startedAt ?? null,
      lastFile: last?.files[0] ?? null,
      recordings: own.length,
    }
  })
}

function isOf({ label, metadata }: Row, client: string, { name }: ServerEntry): boolean {
  return label === labelOf(name) && metadata['client'] === client
}

function table(servers: readonly ServerStatus[], io: Io): string {
  const style = createStyle(io.colours)
  const cells = servers.map((row) => [
    row.client,
    row.server,
    row.live
      ? '● live'
      : row.recorded
        ? '✓ recorded'
        : row.problem === null
          ? '  not recorded'
          : `! ${row.problem}`,
    row.lastRecordedAt === null ? '' : row.lastRecordedAt.slice(0, 16).replace('T', ' '),
    row.url ?? row.command?.join(' ') ?? '',
    shortened(row.file),
  ])
  const safe = cells.map((row) => row.map((cell) => escapeText(cell)))
  const heads = ['client', 'server', 'state', 'last recorded (UTC)', 'starts', 'file']
  // The command may be long; the file's name ends the line.
  const widths = heads.map((head, i) =>
    Math.min(
      i === 4 ? 48 : 40,
      maxOf(
        safe.map((row) => widthOf(row[i]!)),
        head.length,
      ),
    ),
  )
  const longest = maxOf(
    safe.map((row) => widthOf(row.at(-1)!)),
    0,
  )
  // A narrow terminal drops the least important columns first.
  let shown = heads.map((_, i) => i)
  for (const dropped of [4, 3]) {
    const width = shown.slice(0, -1).reduce((sum, i) => sum + widths[i]! + 2, longest)
    if (width > (io.columns ?? Infinity)) shown = shown.filter((i) => i !== dropped)
  }
  const line = (row: readonly string[]): string =>
    shown
      .map((i) => (i === row.length - 1 ? row[i]! : pad(truncate(row[i]!, widths[i]!), widths[i]!, 'right')))
      .join('  ')
  const recorded = servers.filter((row) => row.recorded).length
  return `${[style.dim(line(heads)), ...safe.map(line)].join('\n')}\n${style.dim(`${recorded} of ${servers.length} servers are recorded`)}\n`
}
