import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import envPaths from 'env-paths'
import { createStyle, escapeText, type Style } from '../render/index.js'

/** A command's whole outside world. */
export interface Io {
  readonly cwd: string
  /** Folder of the user's recordings and of the registry. */
  readonly dataFolder: string
  /** Cells in a line of the terminal, or undefined when stdout is none. */
  readonly columns: number | undefined
  readonly style: Style
  /** Waits while the reader is slow. Resolves to false when nobody reads any more. */
  write(text: string): Promise<boolean>
  /** One `wiretape: …` line on stderr; control characters are escaped. */
  complain(message: string, hint?: string): void
}

export function createIo(): Io {
  const stdout = process.stdout
  let readerGone = false
  // `wiretape inspect x | head` is no failure.
  stdout.on('error', () => (readerGone = true))
  return {
    cwd: process.cwd(),
    dataFolder: dataFolder(),
    columns: stdout.isTTY ? stdout.columns : undefined,
    style: createStyle(wantsColour(stdout.isTTY)),
    write(text) {
      if (readerGone) return Promise.resolve(false)
      if (stdout.write(text)) return Promise.resolve(true)
      return new Promise((resolve) => {
        const settle = (): void => {
          stdout.off('drain', settle)
          stdout.off('close', settle)
          stdout.off('error', settle)
          resolve(!readerGone)
        }
        stdout.once('drain', settle)
        stdout.once('close', settle)
        stdout.once('error', settle)
      })
    },
    complain(message, hint) {
      say(`wiretape: ${escapeText(message)}${hint === undefined ? '' : ` (${escapeText(hint)})`}\n`)
    },
  }
}

/** Synchronous, so that it is out before the process ends; what stderr does not take is nobody's to read. */
export function say(line: string): void {
  try {
    fs.writeSync(2, line)
  } catch {
    // A full pipe or a closed one.
  }
}

/** True when stderr is a terminal: a person looks at it. */
export function hasAudience(): boolean {
  return process.stderr.isTTY
}

/** https://no-color.org and the FORCE_COLOR of Node itself. */
function wantsColour(isTerminal: boolean): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '') return FORCE_COLOR !== '0'
  return isTerminal && (NO_COLOR === undefined || NO_COLOR === '') && TERM !== 'dumb'
}

/**
 * The user's data folder, as the system names it (`$XDG_DATA_HOME/wiretape`, `~/.local/share/wiretape`,
 * `~/Library/Application Support/wiretape`, `%LOCALAPPDATA%\wiretape\Data`).
 */
function dataFolder(): string {
  const { data } = envPaths('wiretape', { suffix: '' })
  return data === '' ? join(os.homedir(), '.wiretape') : data
}

/** Recordings stand beside the registry, in a folder of their own. */
export function recordingsIn(folder: string): string {
  return join(folder, 'recordings')
}
