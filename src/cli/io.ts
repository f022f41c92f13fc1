import fs from 'node:fs'
import { isatty } from 'node:tty'
import { WiretapeError } from '../model/index.js'
import { dataFolder } from './data-folder.js'
import type { Pager } from './pager.js'
import { systemReason } from './system-reason.js'

/** A command's whole outside world. */
export interface Io {
  readonly cwd: string
  /** Folder of the user's recordings and of the registry. */
  readonly dataFolder: string
  /** Cells in a line of the terminal, or undefined when stdout is none. */
  readonly columns: number | undefined
  readonly colours: boolean
  /**
   * Collects; what is collected goes out in large pieces and when the command ends. Waits while the reader is
   * slow. Resolves to false when nobody reads any more.
   *
   * @param kind `data` may hold text of peers as it is, and is escaped for a terminal as JSON is; `commands` are for
   *   GitHub Actions, which takes none out of the other two
   * @default 'text', for people, whose parts are escaped already
   */
  write(text: string, kind?: OutputKind): Promise<boolean>
  /** Bytes as they are; a terminal gets them as `data`, and a line feed after them. */
  writeBytes(bytes: Uint8Array): Promise<boolean>
  /** From the next output on, a terminal is written through the user's pager. */
  page(): void
  /** Puts out what is collected. */
  flush(): Promise<boolean>
  /**
   * One `wiretape: …` line on stderr, after what was written so far; control characters are escaped. Causes, from the
   * outside in, follow on lines of their own.
   */
  complain(message: string, hint?: string, causes?: readonly string[]): Promise<void>
  /** Writes what is collected. Returns why stdout did not take everything, unless its reader just went away. */
  close(): Promise<OutputFailure | undefined>
}

/** Where names of recordings are looked up. */
export type SearchFolders = Pick<Io, 'cwd' | 'dataFolder'>

type OutputKind = 'text' | 'data' | 'commands'

export interface OutputFailure {
  /** In the words of the system. */
  readonly reason: string
  /** Whose output it was: ours, or that of the server that was recorded. */
  readonly of: 'wiretape' | 'server'
}

/** Characters that are collected before a write. */
const batchLength = 1 << 16
/** The same for the first write to a pager: about a screen, so that its rows are seen at once. */
const firstBatchLength = 1 << 12

export function createIo(): Io {
  const output = createOutput()
  const isTerminal = isatty(1)
  const inActions = process.env['GITHUB_ACTIONS'] === 'true'
  let collected = ''
  let limit = batchLength
  async function flush(): Promise<boolean> {
    if (isTerminal || inActions) await prepared()
    const text = collected
    collected = ''
    if (text !== '') limit = batchLength
    return output.write(text)
  }
  let preparing: Promise<(text: string, kind: OutputKind) => string> | undefined
  /** Loaded with the first text that needs it: a recorder that starts has none. */
  function prepared(): NonNullable<typeof preparing> {
    return (preparing ??= import('../render/index.js').then(({ createCommandGuard, escapeJson }) => {
      const guard = createCommandGuard()
      const isGuarded = inActions && !isRegularFile(1)
      return (text, kind) => {
        const shown = kind === 'data' && isTerminal ? escapeJson(text) : text
        if (!isGuarded) return shown
        if (kind === 'commands') return `${guard('\n').slice(1)}${shown}`
        return guard(shown)
      }
    }))
  }
  async function complain(message: string, hint?: string, causes: readonly string[] = []): Promise<void> {
    const { escapeText, createCommandGuard } = await import('../render/index.js').catch(() => ({
      escapeText: withoutControls,
      createCommandGuard: undefined,
    }))
    await flush()
    const line = `wiretape: ${escapeText(message)}${hint === undefined ? '' : ` (${escapeText(hint)})`}\n`
    const text = `${line}${blockOf(causes.map((cause) => escapeText(cause)))}`
    say(inActions ? (createCommandGuard?.()(text) ?? text) : text)
  }
  return {
    cwd: workingFolder(),
    dataFolder: dataFolder(process.env),
    get columns() {
      return terminalColumns()
    },
    colours: wantsColour(isTerminal),
    async write(text, kind = 'text') {
      collected += isTerminal || inActions ? (await prepared())(text, kind) : text
      return collected.length < limit ? !output.gone() : flush()
    },
    async writeBytes(bytes) {
      if (isTerminal || inActions) return this.write(`${Buffer.from(bytes).toString()}\n`, 'data')
      await flush()
      return output.write(bytes)
    },
    page() {
      if (!isTerminal) return
      output.page()
      limit = firstBatchLength
    },
    flush,
    complain,
    async close() {
      await flush()
      wipe()
      await pager?.close()
      pager = undefined
      return output.failure()
    },
  }
}

function blockOf(causes: readonly string[]): string {
  if (causes.length === 0) return ''
  const lines = causes.map((cause, i) => (causes.length === 1 ? cause : `${i}: ${cause}`))
  return `\nCaused by:\n${lines.map((line) => `    ${line}\n`).join('')}`
}

/** For when nothing more can be loaded: no descriptors are left, or the program was updated meanwhile. */
function withoutControls(text: string): string {
  return text.replaceAll(/\p{C}/gu, '?')
}

/** Stdout. A pipe or a terminal is not touched before something is written: while recording it belongs to the server. */
function createOutput(): {
  write(text: string | Uint8Array): Promise<boolean>
  page(): void
  gone(): boolean
  failure(): OutputFailure | undefined
} {
  let stdout: NodeJS.WriteStream | undefined
  let of: OutputFailure['of'] = 'server'
  let gone = false
  let failure: OutputFailure | undefined
  let wantsPager = false
  function open(): NodeJS.WriteStream {
    return (stdout ??= process.stdout.on('error', (error: NodeJS.ErrnoException) => {
      // `wiretape inspect x | head` is no failure.
      if (error.code !== 'EPIPE' && !gone) failure = { reason: systemReason(error), of }
      gone = true
    }))
  }
  // What a server says is passed on to the same stream.
  if (isFile(1)) open()
  return {
    async write(text) {
      if (gone || pager?.gone()) return false
      if (text.length === 0) return true
      of = 'wiretape'
      wipe()
      if (wantsPager) {
        wantsPager = false
        const { pagerCommand, startPager } = await import('./pager.js')
        const command = pagerCommand(process.env)
        if (command !== undefined) pager = startPager(command, process.env)
      }
      const to = pager?.input ?? open()
      await new Promise((resolve) => to.write(text, resolve))
      return !gone && !pager?.gone()
    },
    page: () => void (wantsPager = true),
    gone: () => gone || pager?.gone() === true,
    failure: () => failure,
  }
}

function isRegularFile(fd: number): boolean {
  try {
    return fs.fstatSync(fd).isFile()
  } catch {
    return false
  }
}

/** A disk or a device, but no terminal. */
function isFile(fd: number): boolean {
  try {
    const info = fs.fstatSync(fd)
    return info.isFile() || (info.isCharacterDevice() && !isatty(fd))
  } catch {
    return false
  }
}

function terminalColumns(): number | undefined {
  if (!isatty(1)) return undefined
  const columns = process.stdout.columns
  return columns > 0 ? columns : undefined
}

/** Shows what is written while it runs, and what is said where stderr is the same terminal. */
let pager: Pager | undefined

/** A line of progress stands on the terminal. */
let painted = false

/** A line on stderr that the next one, or anything else that is said, takes the place of. */
export function paint(line: string): void {
  if (pager) return
  painted = true
  write(`\r${line}\u001b[K`)
}

/** Synchronous, so that it is out before the process ends; what stderr does not take is nobody's to read. */
export function say(line: string): void {
  wipe()
  write(line)
}

function wipe(): void {
  if (painted) write('\r\u001b[K')
  painted = false
}

function write(line: string): void {
  if (pager && !pager.gone() && hasAudience()) {
    pager.input.write(line)
    return
  }
  try {
    fs.writeSync(2, line)
  } catch {
    // A full pipe or a closed one.
  }
}

/** True when stderr is a terminal: a person looks at it. */
export function hasAudience(): boolean {
  return isatty(2)
}

/** Node cannot start a thread in a folder that was deleted, so there is nothing we could do in it. */
function workingFolder(): string {
  try {
    return process.cwd()
  } catch (cause) {
    const hint = 'start wiretape in a folder that exists'
    throw new WiretapeError('usage', 'the working folder was deleted', { hint, cause })
  }
}

/** https://no-color.org and the FORCE_COLOR of Node itself. */
function wantsColour(isTerminal: boolean): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '') return FORCE_COLOR !== '0'
  return isTerminal && (NO_COLOR === undefined || NO_COLOR === '') && TERM !== 'dumb'
}
