import { spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Writable } from 'node:stream'

/** A program that shows long output on the terminal page by page. */
export interface Pager {
  /** Errors after the pager's end are not thrown. */
  readonly input: Writable
  /** Whether the user or a signal ended the pager before `close`. */
  gone(): boolean
  /** Ends the input and waits until the user leaves the pager. */
  close(): Promise<void>
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * The command line of the user's pager: `$WIRETAPE_PAGER`, else `$PAGER`, else `less -FRX`. Undefined for no pager: an
 * empty name, `cat`, or a program that does not exist.
 */
export function pagerCommand(env: NodeJS.ProcessEnv): string | undefined {
  // On a dumb terminal `less` warns and waits for a key.
  const fallback = env['TERM'] === undefined || env['TERM'] === 'dumb' ? 'cat' : 'less -FRX'
  const command = (env['WIRETAPE_PAGER'] ?? env['PAGER'] ?? fallback).trim()
  const program = command.split(/\s+/, 1)[0]!
  if (program === '' || command === 'cat') return undefined
  // The shell interprets assignments, quotes and the like.
  if (!/^[\w./+-]+$/.test(program)) return command
  return isThere(program, env['PATH'] ?? '') ? command : undefined
}

function isThere(program: string, path: string): boolean {
  const files = program.includes('/')
    ? [program]
    : path.split(delimiter).map((folder) => join(folder, program))
  return files.some((file) => {
    try {
      accessSync(file, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

/**
 * Starts a pager on our own terminal. A signal that would end us ends only the output, since otherwise two programs
 * would read the terminal's keys; it ends us once the user leaves the pager.
 *
 * @param command for the shell, like `$PAGER`
 */
export function startPager(command: string, env: NodeJS.ProcessEnv): Pager {
  const child = spawn('/bin/sh', ['-c', command], {
    stdio: ['pipe', 'inherit', 'inherit'],
    // The defaults of git: colours pass, and output that fits on the screen is not paged.
    env: { LESS: 'FRX', LV: '-c', ...env },
  })
  const input = child.stdin
  input.on('error', () => undefined)
  let gone = false
  let signalled: NodeJS.Signals | undefined
  const take = (signal: NodeJS.Signals): void => {
    signalled = signal
    gone = true
    input.end()
  }
  for (const signal of signals) process.on(signal, take)
  const ended = new Promise<void>((resolve) => {
    const end = (): void => {
      gone = true
      for (const signal of signals) process.off(signal, take)
      if (signalled) process.kill(process.pid, signalled)
      resolve()
    }
    child.once('close', end)
    child.once('error', end)
  })
  return {
    input,
    gone: () => gone,
    close() {
      input.end()
      return ended
    },
  }
}
