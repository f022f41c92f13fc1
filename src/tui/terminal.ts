import { spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ReadStream, WriteStream } from 'node:tty'
import { sizeOf } from './canvas.js'
import { createKeyReader, type Key } from './keys.js'

/** An escape is a key of its own if no input follows within this time. */
const escapeMs = 40
/** An editor still running this long after a signal is left running. */
const editorEndsWithinMs = 3_000
/** Maximum length (base64) that terminals accept. */
const longestCopy = 74_994

const enter = '\u001b[?1049h\u001b[?2004h\u001b[?25l\u001b[2J\u001b[H'
const leave = '\u001b[?2004l\u001b[?25h\u001b[?1049l'

/** The user's terminal while a screen uses it. */
export interface Terminal {
  readonly columns: number
  readonly rows: number
  onKey(listener: (key: Key) => void): void
  onResize(listener: () => void): void
  /** Called once, when the terminal is lost: its window was closed, or its connection failed. */
  onGone(listener: () => void): void
  /** Called when a shell has returned the terminal. The screen's previous content is gone. */
  onBack(listener: () => void): void
  /** Returns false if the text is too long. */
  copy(text: string): boolean
  /** Lends the terminal to the user's editor. Returns the saved text, or the reason why there is none. */
  edit(text: string): Promise<Edited>
  /** Restores the terminal. Ends an editor that uses it. */
  close(): void
}

export type Edited =
  | { readonly text: string }
  /** @param kept the folder with the unsaved text, if the editor was ended before its user finished */
  | { readonly fault: string; readonly kept?: string }

export function openTerminal(stdin: ReadStream, stdout: WriteStream): Terminal {
  const reader = createKeyReader()
  let keyListener: (key: Key) => void = () => undefined
  let resizeListener: () => void = () => undefined
  let goneListener: (() => void) | undefined
  let backListener: () => void = () => undefined
  let gone = false
  let timer: NodeJS.Timeout | undefined
  let open = false
  let closed = false
  const closing = new AbortController()

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
  // Restores the terminal on any exit.
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
  /** Restores the terminal for the shell, which knows neither raw mode nor the alternate screen. */
  function onStop(): void {
    const had = open
    give()
    // The default action. It stops no process that no shell could continue.
    process.off('SIGTSTP', onStop)
    process.kill(process.pid, 'SIGTSTP')
    setImmediate(() => {
      if (closed) return
      process.on('SIGTSTP', onStop)
      if (had) back()
    })
  }
  /** SIGSTOP cannot be caught: the terminal was not restored. In the background, waits for the foreground. */
  function onContinue(): void {
    if (!open) return
    give()
    back()
  }
  function back(): void {
    take()
    backListener()
    // A stopped process gets no notice of a new size.
    if (process.platform !== 'win32') process.kill(process.pid, 'SIGWINCH')
  }
  /** The first call that fails on a lost terminal. */
  function setRaw(on: boolean): void {
    try {
      stdin.setRawMode(on)
    } catch {
      onGone()
    }
  }

  take()
  // These listeners stay: writes to a lost terminal fail later.
  stdin.on('error', onGone)
  stdout.on('error', onGone)
  stdin.on('end', onGone)
  stdout.on('resize', onResize)
  process.once('exit', restore)
  process.on('SIGTSTP', onStop)
  process.on('SIGCONT', onContinue)
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
    onBack(listener) {
      backListener = listener
    },
    copy(text) {
      const encoded = Buffer.from(text).toString('base64')
      if (encoded.length > longestCopy) return false
      // OSC 52 works over ssh; inside tmux, with `set-clipboard on`.
      stdout.write(`\u001b]52;c;${encoded}\u0007`)
      return true
    },
    async edit(text) {
      give()
      const interrupts = setInterruptsAside()
      try {
        return await editExternally(text, closing.signal)
      } catch (error) {
        return {
          fault: `the editor failed: ${error instanceof Error ? error.message : String(error)}`,
        }
      } finally {
        interrupts.restore()
        take()
      }
    },
    close() {
      closed = true
      closing.abort()
      give()
      goneListener = undefined
      stdout.off('resize', onResize)
      process.off('exit', restore)
      process.off('SIGTSTP', onStop)
      process.off('SIGCONT', onContinue)
    },
  }
}

/** Signals that a terminal sends to its foreground group are meant for the editor. */
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

async function editExternally(text: string, ended: AbortSignal): Promise<Edited> {
  const command = process.env['VISUAL'] || process.env['EDITOR'] || 'vi'
  const folder = await mkdtemp(join(tmpdir(), 'wiretape-edit-'))
  const path = join(folder, 'message.json')
  let keeps = false
  try {
    await writeFile(path, `${text}\n`, { mode: 0o600, flag: 'wx' })
    const fault = await runEditor(command, path, ended)
    keeps = ended.aborted && (await hasMore(folder, path, `${text}\n`))
    if (fault !== undefined) return { fault, ...(keeps && { kept: folder }) }
    return { text: (await readFile(path, 'utf8')).replace(/\r?\n$/, '') }
  } finally {
    if (!keeps) await rm(folder, { recursive: true, force: true })
  }
}

/** Whether the editor saved a change, or left a recovery file. */
async function hasMore(folder: string, path: string, before: string): Promise<boolean> {
  if ((await readdir(folder)).length > 1) return true
  return (await readFile(path, 'utf8')) !== before
}

/** A program with its arguments, without any shell syntax. */
const isProgram = /^ *(?!(?:builtin|command|eval|exec|time|\.) )[\w./+-]+(?: +[\w./+:=@,%-]+)* *$/

/** `$EDITOR` may have arguments. Other programs run it through a shell too. */
function runEditor(command: string, path: string, ended: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve) => {
    if (ended.aborted) return resolve('the screen was closed')
    // `exec` replaces the shell, so that a signal reaches the editor.
    const line = isProgram.test(command) ? `exec ${command} "$1"` : `${command} "$1"`
    const child = spawn('/bin/sh', ['-c', line, 'sh', path], { stdio: 'inherit' })
    let patience: NodeJS.Timeout | undefined
    const over = (fault: string | undefined): void => {
      clearTimeout(patience)
      ended.removeEventListener('abort', end)
      resolve(fault)
    }
    const end = (): void => {
      child.kill()
      patience = setTimeout(() => {
        child.unref()
        over(`${command} is still running`)
      }, editorEndsWithinMs)
    }
    ended.addEventListener('abort', end)
    child.once('error', (error) => over(`cannot start ${command}: ${error.message}`))
    child.once('exit', (code, signal) =>
      over(code === 0 && !ended.aborted ? undefined : `${command} ended with ${signal ?? `status ${code}`}`),
    )
  })
}
