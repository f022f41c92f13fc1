import fs from 'node:fs'
import { isatty } from 'node:tty'
import { WiretapeError } from '../model/index.js'
import { dataFolder } from './data-folder.js'
import type { Pager } from './pager.js'
import { systemReason } from './system-reason.js'

/** A command's environment. */
export interface Io {
  readonly cwd: string
  /** Folder of the user's recordings and of the registry. */
  readonly dataFolder: string
  /** Terminal width in cells; undefined if stdout is no terminal. */
  readonly columns: number | undefined
  readonly colours: boolean
  /**
   * Buffers output, written in large pieces and when the command ends. Waits while the reader is slow. Resolves to
   * false once the reader is gone.
   *
   * @param kind `data` may hold unchanged text of peers, and is escaped for a terminal as in JSON; `commands` are for
   *   GitHub Actions, which must find none in the other two
   * @default 'text', for people, with parts already escaped
   */
  write(text: string, kind?: OutputKind): Promise<boolean>
  /** Bytes unchanged; a terminal gets them as `data`, followed by a line feed. */
  writeBytes(bytes: Uint8Array): Promise<boolean>
  /** Sends all further output to a terminal through the user's pager. */
  page(): void
  /** Writes the buffer. */
  flush(): Promise<boolean>
  /**
   * One `wiretape: …` line on stderr, after all earlier output; control characters are escaped. Causes follow on
   * separate lines, outermost first.
   */
  complain(message: string, hint?: string, causes?: readonly string[]): Promise<void>
  /** Writes the buffer. Returns the write failure of stdout, unless its reader is merely gone. */
  close(): Promise<OutputFailure | undefined>
}

/** Folders for recording names. */
export type SearchFolders = Pick<Io, 'cwd' | 'dataFolder'>

type OutputKind = 'text' | 'data' | 'commands'

export interface OutputFailure {
  /** The system's message. */
  readonly reason: string
  /** Origin of the output: wiretape or the recorded server. */
  readonly of: 'wiretape' | 'server'
}

/** Characters buffered before a write. */
const batchLength = 1 << 16
/** Before the first write to a pager: about a screen, so that rows appear at once. */
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
  /** Loaded with the first text that needs it: a starting recorder has none. */
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

/** Fallback if no module can be loaded: no free descriptors, or the program was updated. */
function withoutControls(text: string): string {
  return text.replaceAll(/\p{C}/gu, '?')
}

/** Stdout. A pipe or terminal is not opened before the first write: while recording it belongs to the server. */
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
  // Server output is forwarded to the same stream.
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

/** A file or a device, but no terminal. */
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

/** While running, shows the output, and stderr lines if stderr is the same terminal. */
let pager: Pager | undefined

/** Whether the terminal shows a progress line. */
let painted = false

/** Writes a line to stderr that the next output there replaces. */
export function paint(line: string): void {
  if (pager) return
  painted = true
  write(`\r${line}\u001b[K`)
}

/** Synchronous, so that it completes before the process ends. Text that stderr refuses is lost. */
export function say(line: string): void {
  wipe()
  write(line)
}

/** Erases a line that another thread may have painted. */
export function wipeThreads(): void {
  painted ||= !pager && hasAudience()
  wipe()
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
    // The pipe is full or closed.
  }
}

/** Whether stderr is a terminal, where a person reads it. */
export function hasAudience(): boolean {
  return isatty(2)
}

/** Fails in a deleted folder, since Node cannot start threads there. */
function workingFolder(): string {
  try {
    return process.cwd()
  } catch (cause) {
    const hint = 'start wiretape in a folder that exists'
    throw new WiretapeError('usage', 'the working folder was deleted', { hint, cause })
  }
}

/** https://no-color.org and Node's own FORCE_COLOR. */
function wantsColour(isTerminal: boolean): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '') return FORCE_COLOR !== '0'
  return isTerminal && (NO_COLOR === undefined || NO_COLOR === '') && TERM !== 'dumb'
}
