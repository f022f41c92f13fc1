import {
  compareServers,
  driftWords,
  type Drift,
  type PinnedKind,
  type PinnedServer,
} from '../../findings/index.js'
import { WiretapeError } from '../../model/index.js'
import { countOf, createStyle, escapeText, type Style } from '../../render/index.js'
import { exitCode } from '../exit-codes.js'
import type { Io } from '../io.js'
import { readLock, usualLock, writeLock, type Pins } from '../pin/lock-file.js'
import { offersInFiles, offersOfServer } from '../pin/recorded-offers.js'
import { wordDiff } from '../pin/word-diff.js'
import { recordingPaths } from '../recording-name.js'
import { recorderOf } from './called-server.js'

export interface PinOptions {
  readonly url?: string
  readonly header?: readonly string[]
  readonly lock?: string
  readonly verify?: boolean
  readonly accept?: boolean
  /** Milliseconds. */
  readonly timeout: number
}

/** Pins the offers of servers, or shows differences from pinned ones. Exits with 1 on a difference. */
export async function runPin(
  recordings: readonly string[],
  command: readonly string[],
  options: PinOptions,
  io: Io,
): Promise<number> {
  const { lock = usualLock, verify = false, accept = false } = options
  checkUse(recordings, command, options)
  const pins = await readLock(lock, io)
  if (verify && !pins)
    throw new WiretapeError('usage', `there is no ${escapeText(lock)}`, {
      hint: 'create one with wiretape pin RECORDING',
    })
  const found =
    recordings.length > 0
      ? await offersInFiles(await recordingPaths(recordings, io), io)
      : await offersOfServer(await recorderOf(command, options, io), options.timeout, io)
  if (found.size === 0)
    throw new WiretapeError('unreadable', 'the recording has no list of what the server offers', {
      hint: 'record a client that initializes the session and lists the tools',
    })
  const differs = await tellDrift(pins ?? new Map(), found, { verify, accept }, io)
  if (verify || (differs && !accept)) return differs ? exitCode.found : exitCode.done
  await writeLock(lock, merged(pins ?? new Map(), found), io)
  await io.write(`${escapeText(lock)} written\n`)
  return exitCode.done
}

function checkUse(
  recordings: readonly string[],
  command: readonly string[],
  { url, header, verify, accept }: PinOptions,
): void {
  const wrong = (message: string, hint: string): WiretapeError =>
    new WiretapeError('usage', message, { hint })
  const sources = [recordings.length > 0, command.length > 0, url !== undefined].filter(Boolean).length
  if (sources === 0)
    throw wrong(
      'a recording or a server is needed',
      'name a recording, --url, or the command of a server after --',
    )
  if (sources > 1) throw wrong('a recording, --url and a command cannot be combined', 'name one')
  if (header !== undefined && url === undefined) throw wrong('--header needs --url', 'add --url')
  if (verify && accept) throw wrong('--verify and --accept cannot be combined', 'use one of them')
}

/** @returns whether a pinned server changed or, with `verify`, a server is not pinned */
async function tellDrift(
  pins: Pins,
  found: Pins,
  { verify, accept }: { readonly verify: boolean; readonly accept: boolean },
  io: Io,
): Promise<boolean> {
  const style = createStyle(io.colours)
  let differs = false
  for (const [name, server] of found) {
    const pinned = pins.get(name)
    const drifts = pinned ? compareServers(pinned, server) : []
    const isFound = drifts.length > 0 || (verify && !pinned)
    differs ||= isFound
    const verdict = !pinned
      ? verify
        ? style.red('not pinned')
        : `pinned: ${contentsOf(server)}`
      : drifts.length === 0
        ? 'as pinned'
        : accept
          ? `${countOf(drifts.length, 'difference')} accepted`
          : style.red(countOf(drifts.length, 'difference'))
    await io.write(`${style.bold(escapeText(name))}  ${verdict}\n`)
    for (const drift of drifts) await io.write(driftLines(drift, style))
    const unlisted = [...(pinned?.keys() ?? [])].filter((kind) => !server.has(kind))
    if (unlisted.length > 0)
      await io.write(
        `  ${style.dim(`not compared, because the recording does not list them: ${unlisted.map((kind) => plurals[kind]).join(', ')}`)}\n`,
      )
  }
  if (differs && !verify && !accept)
    await io.write('nothing was written; accept the differences with --accept\n')
  return differs
}

const plurals: Readonly<Record<PinnedKind, string>> = {
  server: 'instructions',
  tool: 'tools',
  prompt: 'prompts',
  resource: 'resources',
  template: 'resource templates',
}

function contentsOf(server: PinnedServer): string {
  return [...server]
    .filter(([kind, items]) => kind !== 'server' || items.get('')?.has('instructions'))
    .map(([kind, { size }]) => (kind === 'server' ? plurals.server : `${plurals[kind]} (${size})`))
    .join(', ')
}

function driftLines(drift: Drift, style: Style): string {
  const head = `  ${escapeText(driftWords(drift))}\n`
  const { before, after } = drift
  if (before === undefined && after === undefined) return head
  return `${head}    ${wordDiff(before ?? '""', after ?? '""', style)}\n`
}

/** Kinds that were not listed and servers that were not seen keep their pins. */
function merged(pins: Pins, found: Pins): Pins {
  const all = new Map(pins)
  for (const [name, server] of found) all.set(name, new Map([...(pins.get(name) ?? []), ...server]))
  return all
}
