import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ReadStream, WriteStream } from 'node:tty'
import { sizeOf } from './canvas.js'
import { createKeyReader, type Key } from './keys.js'

/** An escape that nothing follows within this time is the key itself. */
const escapeMs = 40
/** Terminals take no more at a time. */
const longestCopy = 74_994

const enter = '\u001b[?1049h\u001b[?2004h\u001b[?25l\u001b[2J\u001b[H'
const leave = '\u001b[?2004l\u001b[?25h\u001b[?1049l'

/** The user's terminal while a screen has it. */
export interface Terminal {
  readonly columns: number
  readonly rows: number
  onKey(listener: (key: Key) => void): void
  onResize(listener: () => void): void
  /** Called once, when nothing can be shown any more and no key comes: its window was closed, its connection is lost. */
  onGone(listener: () => void): void
  /** False when it is too long to copy. */
  copy(text: string): boolean
  /** Gives the terminal to the user's editor and takes it back. Returns what was saved, or why nothing was. */
  edit(text: string): Promise<{ readonly text: string } | { readonly fault: string }>
  /** Gives the terminal back as it was. */
  close(): void
}

export function openTerminal(stdin: ReadStream, stdout: WriteStream): Terminal {
  const reader = createKeyReader()
  let keyListener: (key: Key) => void = () => undefined
  let resizeListener: () => void = () => undefined
  let goneListener: (() => void) | undefined
  let gone = false
  let timer: NodeJS.Timeout | undefined
  let open = false
  let closed = false

  const onData = (chunk: Buffer | string): void => {
    clearTimeout(timer)
    reader.push(String(chunk)).forEach((key) => keyListener(key))
    if (reader.pending) timer = setTimeout(() => reader.settle().forEach((key) => keyListener(key)), escapeMs)
  }
  const onResize = (): void => resizeListener()
  const onGone = (): void => {
    gone = true
    goneListener?.()
    goneListener = undefined
  }
  // Whatever ends us, the terminal is as it was before.
  const restore = (): void => {
    if (open) stdout.write(leave)
  }

  function take(): void {
    if (closed) return
    open = true
    stdin.setEncoding('utf8')
    setRaw(true)
    stdin.on('data', onData)
    stdin.resume()
    stdout.write(enter)
  }
  function give(): void {
    if (!open) return
    open = false
    clearTimeout(timer)
    stdin.off('data', onData)
    stdin.pause()
    setRaw(false)
    stdout.write(leave)
  }
  /** A terminal that has gone fails here first. */
  function setRaw(on: boolean): void {
    try {
      stdin.setRawMode(on)
    } catch {
      onGone()
    }
  }

  take()
  // These stay: what is written to a terminal that has gone fails later.
  stdin.on('error', onGone)
  stdout.on('error', onGone)
  stdin.on('end', onGone)
  stdout.on('resize', onResize)
  process.once('exit', restore)
  return {
    get columns() {
      return sizeOf(stdout).columns
    },
    get rows() {
      return sizeOf(stdout).rows
    },
    onKey(listener) {
      keyListener = listener
    },
    onResize(listener) {
      resizeListener = listener
    },
    onGone(listener) {
      goneListener = listener
      if (gone) onGone()
    },
    copy(text) {
      const encoded = Buffer.from(text).toString('base64')
      if (encoded.length > longestCopy) return false
      // OSC 52, which works over ssh; inside of tmux with `set-clipboard on`.
      stdout.write(`\u001b]52;c;${encoded}\u0007`)
      return true
    },
    async edit(text) {
      give()
      const interrupts = setInterruptsAside()
      try {
        return await editExternally(text)
      } catch (error) {
        return {
          fault: `the editor could not be used: ${error instanceof Error ? error.message : String(error)}`,
        }
      } finally {
        interrupts.restore()
        take()
      }
    },
    close() {
      closed = true
      give()
      goneListener = undefined
      stdout.off('resize', onResize)
      process.off('exit', restore)
    },
  }
}

/** What a terminal sends to all in its foreground is meant for the editor that has it. */
function setInterruptsAside(): { restore(): void } {
  const ignore = (): void => undefined
  const aside = (['SIGINT', 'SIGQUIT'] as const).map((signal) => {
    const listeners = process.rawListeners(signal) as NodeJS.SignalsListener[]
    process.on(signal, ignore)
    for (const listener of listeners) process.off(signal, listener)
    return { signal, listeners }
  })
  return {
    restore() {
      for (const { signal, listeners } of aside) {
        for (const listener of listeners) process.on(signal, listener)
        process.off(signal, ignore)
      }
    },
  }
}

async function editExternally(text: string): Promise<{ text: string } | { fault: string }> {
  const command = process.env['VISUAL'] || process.env['EDITOR'] || 'vi'
  const folder = await mkdtemp(join(tmpdir(), 'wiretape-edit-'))
  const path = join(folder, 'message.json')
  try {
    await writeFile(path, `${text}\n`, { mode: 0o600, flag: 'wx' })
    const fault = await runEditor(command, path)
    if (fault !== undefined) return { fault }
    return { text: (await readFile(path, 'utf8')).replace(/\r?\n$/, '') }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** `$EDITOR` may have arguments, and is a shell's command everywhere else too. */
function runEditor(command: string, path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', `${command} "$1"`, 'sh', path], { stdio: 'inherit' })
    child.once('error', (error) => resolve(`cannot start ${command}: ${error.message}`))
    child.once('exit', (code, signal) =>
      resolve(code === 0 ? undefined : `${command} ended with ${signal ?? `status ${code}`}`),
    )
  })
}
