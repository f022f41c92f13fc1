import { isatty } from 'node:tty'
import { registryFolderIn } from '../../capture/index.js'
import { liveCaptures } from '../../control/index.js'
import {
  countOf,
  createStyle,
  escapeText,
  formatBytes,
  formatDuration,
  pad,
  truncate,
  widthOf,
} from '../../render/index.js'
import { recordingsIn } from '../data-folder.js'
import { exitCode } from '../exit-codes.js'
import { maxOf } from '../extremes.js'
import { rowsIn, type Row } from '../folder-rows.js'
import { shortNames } from '../recording-name.js'
import { onInterrupt } from '../interrupt.js'
import type { Io } from '../io.js'
import { showTargets, type Target } from './attach.js'

/** Recordings on the home screen; `ls` and `search` cover all. */
const mostOffered = 500
/** Of these, recordings printed without a terminal. */
const mostPrinted = 10

const nextSteps = [
  ['wiretape record -- COMMAND', 'record a stdio server'],
  ['wiretape install', 'record the servers of your MCP clients'],
  ['wiretape search WORDS', 'find a message in all recordings'],
] as const

/** `wiretape` alone: live captures, the last recordings, and next steps. On a terminal, opens the choice. */
export async function runHome(io: Io): Promise<number> {
  if (!isatty(0) || !isatty(1)) return printHome(io)
  for (;;) {
    const rows = await newestRows(io)
    const { pickSome } = await import('../../tui/index.js')
    const { stdin, stdout } = process
    const interrupt = onInterrupt()
    const picked = await pickSome({
      title: titleOf(rows),
      choices: choicesOf(rows.slice(0, mostOffered)),
      advice: nextSteps.map(([command, what]) => `${pad(command, 28, 'right')}${what}`),
      colours: io.colours,
      stdin,
      stdout,
      signal: interrupt.signal,
    })
    interrupt.close()
    if (interrupt.signal.aborted) return interrupt.exitCode()
    if (!picked) return exitCode.done
    await showTargets(
      await targetsOf(
        picked.map((at) => rows[at]!),
        io,
      ),
      io,
    )
  }
}

/** A recording with a name that all commands accept. */
type NamedRow = Row & { readonly name: string }

/** Live captures first, then the newest. */
async function newestRows(io: Io): Promise<NamedRow[]> {
  const all = await rowsIn(recordingsIn(io.dataFolder), io)
  const names = shortNames(all)
  const rows = all.map((row, i) => ({ ...row, name: names[i]! }))
  return rows.toReversed().toSorted((a, b) => Number(b.state === 'live') - Number(a.state === 'live'))
}

async function targetsOf(rows: readonly Row[], io: Io): Promise<Target[]> {
  const live = await liveCaptures(registryFolderIn(io.dataFolder))
  return rows.map((row) => live.find(({ session }) => session === row.session) ?? row.files[0]!)
}

function titleOf(rows: readonly Row[]): string {
  if (rows.length === 0) return 'No recordings yet'
  const live = rows.filter(({ state }) => state === 'live').length
  return `${countOf(rows.length, 'recording')}${live > 0 ? `, ${live} live` : ''}`
}

const signs = { live: '●', complete: ' ', incomplete: '!', failed: '✕' } as const

function choicesOf(rows: readonly NamedRow[]): { name: string; about: string }[] {
  const labels = rows.map(
    ({ name, state }) => `${signs[state]} ${truncate(escapeText(name.slice(0, 200)), 44)}`,
  )
  const width = maxOf(labels.map(widthOf), 0)
  return rows.map((row, i) => ({
    name: pad(labels[i]!, width, 'right'),
    about: aboutOf(row, peersOf(row)),
  }))
}

/** `agent → shop`: the self-reported names. */
function peersOf({ client, server }: Row): string {
  const names = [client, server].flatMap((peer) => (peer === null ? [] : [peer.name.slice(0, 200)]))
  return names.map((name) => truncate(escapeText(name), 20)).join(' → ')
}

function aboutOf({ state, startedAt, messages, errors, sizeBytes }: Row, peers: string): string {
  const ago = Date.now() - Date.parse(startedAt)
  const when = Number.isNaN(ago) ? '' : ageOf(ago)
  const size = messages === null ? formatBytes(sizeBytes) : countOf(messages, 'message')
  const words = { live: 'live', complete: '', incomplete: 'truncated', failed: 'the server did not start' }[
    state
  ]
  const failed = errors ? countOf(errors, 'error') : ''
  const ended = [words, failed].filter((part) => part !== '').join(', ')
  // A narrow terminal truncates the last part.
  return `${pad(when, 12, 'right')}${pad(size, 16, 'right')}${pad(ended, 9, 'right')}  ${peers}`.trimEnd()
}

function ageOf(ms: number): string {
  const days = Math.floor(ms / 86_400_000)
  if (days > 0) return `${countOf(days, 'day')} ago`
  const hours = Math.floor(ms / 3_600_000)
  if (hours > 0) return `${hours} h ago`
  const minutes = Math.floor(ms / 60_000)
  return minutes > 0
    ? `${minutes} min ago`
    : `${formatDuration(Math.max(0, Math.floor(ms / 1000)) * 1_000_000)} ago`
}

async function printHome(io: Io): Promise<number> {
  const style = createStyle(io.colours)
  const rows = await newestRows(io)
  const lines = [titleOf(rows)]
  for (const { name, about } of choicesOf(rows.slice(0, mostPrinted)))
    lines.push(`${name}  ${style.dim(about)}`)
  if (rows.length > mostPrinted) lines.push(style.dim(`  and ${rows.length - mostPrinted} more: wiretape ls`))
  lines.push('', ...nextSteps.map(([command, what]) => `${pad(command, 28, 'right')}${what}`))
  lines.push(`${pad('wiretape --help', 28, 'right')}list all commands`)
  await io.write(`${lines.join('\n')}\n`)
  return exitCode.done
}
