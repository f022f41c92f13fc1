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

export type Edited =
  | { readonly text: string }
  /** @param kept the folder with the unsaved text, if the editor was ended before its user finished */
  | { readonly fault: string; readonly kept?: string }

/** The user's terminal while a screen uses it. */
export class Terminal {
  readonly #stdin: ReadStream
  readonly #stdout: WriteStream
  readonly #reader = createKeyReader()
  #keyListener: (key: Key) => void = () => undefined
  #resizeListener: () => void = () => undefined
  #goneListener: (() => void) | undefined
  #backListener: () => void = () => undefined
  #gone = false
  #timer: NodeJS.Timeout | undefined
  #open = false
  #closed = false
  readonly #closing = new AbortController()

  readonly #onData = (chunk: Buffer | string): void => {
    clearTimeout(this.#timer)
    this.#reader.push(String(chunk)).forEach((key) => this.#keyListener(key))
    if (this.#reader.pending)
      this.#timer = setTimeout(() => this.#reader.settle().forEach((key) => this.#keyListener(key)), escapeMs)
  }

  readonly #onResize = (): void => this.#resizeListener()

  readonly #onGone = (): void => {
    this.#gone = true
    this.#goneListener?.()
    this.#goneListener = undefined
  }

  /** Restores the terminal on any exit. */
  readonly #restore = (): void => {
    if (this.#open) this.#stdout.write(leave)
  }

  /** Restores the terminal for the shell, which knows neither raw mode nor the alternate screen. */
  readonly #onStop = (): void => {
    const had = this.#open
    this.#give()
    // The default action. It stops no process that no shell could continue.
    process.off('SIGTSTP', this.#onStop)
    process.kill(process.pid, 'SIGTSTP')
    setImmediate(() => {
      if (this.#closed) return
      process.on('SIGTSTP', this.#onStop)
      if (had) this.#back()
    })
  }

  /** SIGSTOP cannot be caught: the terminal was not restored. In the background, waits for the foreground. */
  readonly #onContinue = (): void => {
    if (!this.#open) return
    this.#give()
    this.#back()
  }

  constructor(stdin: ReadStream, stdout: WriteStream) {
    this.#stdin = stdin
    this.#stdout = stdout
    this.#take()
    // These listeners stay: writes to a lost terminal fail later.
    stdin.on('error', this.#onGone)
    stdout.on('error', this.#onGone)
    stdin.on('end', this.#onGone)
    stdout.on('resize', this.#onResize)
    process.once('exit', this.#restore)
    process.on('SIGTSTP', this.#onStop)
    process.on('SIGCONT', this.#onContinue)
  }

  get columns(): number {
    return sizeOf(this.#stdout).columns
  }

  get rows(): number {
    return sizeOf(this.#stdout).rows
  }

  onKey(listener: (key: Key) => void): void {
    this.#keyListener = listener
  }

  onResize(listener: () => void): void {
    this.#resizeListener = listener
  }

  /** Called once, when the terminal is lost: its window was closed, or its connection failed. */
  onGone(listener: () => void): void {
    this.#goneListener = listener
    if (this.#gone) this.#onGone()
  }

  /** Called when a shell has returned the terminal. The screen's previous content is gone. */
  onBack(listener: () => void): void {
    this.#backListener = listener
  }

  /** Returns false if the text is too long. */
  copy(text: string): boolean {
    const encoded = Buffer.from(text).toString('base64')
    if (encoded.length > longestCopy) return false
    // OSC 52 works over ssh; inside tmux, with `set-clipboard on`.
    this.#stdout.write(`\u001b]52;c;${encoded}\u0007`)
    return true
  }

  /** Lends the terminal to the user's editor. Returns the saved text, or the reason why there is none. */
  async edit(text: string): Promise<Edited> {
    this.#give()
    const interrupts = setInterruptsAside()
    try {
      return await editExternally(text, this.#closing.signal)
    } catch (error) {
      return {
        fault: `the editor failed: ${error instanceof Error ? error.message : String(error)}`,
      }
    } finally {
      interrupts.restore()
      this.#take()
    }
  }

  /** Restores the terminal. Ends an editor that uses it. */
  close(): void {
    this.#closed = true
    this.#closing.abort()
    this.#give()
    this.#goneListener = undefined
    this.#stdout.off('resize', this.#onResize)
    process.off('exit', this.#restore)
    process.off('SIGTSTP', this.#onStop)
    process.off('SIGCONT', this.#onContinue)
  }

  #take(): void {
    if (this.#closed) return
    this.#open = true
    this.#stdin.setEncoding('utf8')
    this.#setRaw(true)
    this.#stdin.on('data', this.#onData)
    this.#stdin.resume()
    this.#stdout.write(enter)
  }

  #give(): void {
    if (!this.#open) return
    this.#open = false
    clearTimeout(this.#timer)
    this.#stdin.off('data', this.#onData)
    this.#stdin.pause()
    this.#setRaw(false)
    this.#stdout.write(leave)
  }

  #back(): void {
    this.#take()
    this.#backListener()
    // A stopped process gets no notice of a new size.
    if (process.platform !== 'win32') process.kill(process.pid, 'SIGWINCH')
  }

  /** The first call that fails on a lost terminal. */
  #setRaw(on: boolean): void {
    try {
      this.#stdin.setRawMode(on)
    } catch {
      this.#onGone()
    }
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
