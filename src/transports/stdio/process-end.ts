import os from 'node:os'

/** How a process ended. */
export interface ProcessExit {
  /** The exit status; 128 + the signal's number when a signal ended the process. */
  readonly exitCode: number
  readonly signal?: NodeJS.Signals
}

export function exitOf(code: number | null, signal: NodeJS.Signals | null): ProcessExit {
  if (signal === null) return { exitCode: code ?? 1 }
  return { exitCode: 128 + (os.constants.signals[signal] ?? 0), signal }
}

/** Why a program could not be started, as a sentence. */
export function reasonNotStarted(file: string, cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  const why =
    code === 'ENOENT' || code === 'ENOTDIR'
      ? 'no such program'
      : code === 'EACCES'
        ? 'permission denied'
        : code === 'ENOEXEC'
          ? 'not a program'
          : code === 'EMFILE'
            ? 'too many open files; ulimit -n shows the limit'
            : code || (cause instanceof Error ? cause.message : String(cause))
  return `cannot start ${JSON.stringify(file)}: ${why}`
}
