import { spawn } from 'node:child_process'

/** Ends processes when we are killed and cannot do so ourselves. */
export interface Watchdog {
  /** Adds a process to end. @returns a function to call once the process is gone */
  watch(pid: number): () => void
  /** No process is left to end. */
  dismiss(): void
}

export interface WatchdogOptions {
  /** Each process leads a process group, and the whole group is ended. @default false */
  readonly groups?: boolean
}

/**
 * A script that reads pids line by line (`+ PID`, `- PID`). Its input ends when we are gone. It then ends the remaining
 * processes with the grace of the official clients: a server, whose input has ended too, has 2 s until SIGTERM and 2 s
 * until SIGKILL. A client gets SIGHUP at once, as from a closing terminal, because shells react only to that.
 */
const script = (target: string, first: string): string => `trap '' INT QUIT TERM HUP
pids=' '
while read -r what pid; do
  case $what in
    +) pids="$pids$pid " ;;
    -) pids="\${pids%% $pid *} \${pids#* $pid }" ;;
  esac
done
left() {
  for pid in $pids; do kill -0 "${target}" 2>/dev/null && return 0; done
  return 1
}
tell() { for pid in $pids; do kill "-$1" "${target}" 2>/dev/null; done; }
grace() {
  n=0
  while left && [ $n -lt 40 ]; do sleep 0.05 || { sleep 1; n=$((n + 20)); }; n=$((n + 1)); done
}
${first}
tell TERM; grace; left && tell KILL`

/** Needs a shell; without one there is no watchdog. */
export function startWatchdog({ groups = false }: WatchdogOptions = {}): Watchdog {
  if (process.platform === 'win32') return { watch: () => () => undefined, dismiss: () => undefined }
  const text = groups ? script('-$pid', 'grace') : script('$pid', 'tell HUP')
  const shell = spawn('/bin/sh', ['-c', text], { stdio: ['pipe', 'ignore', 'ignore'] })
  shell.on('error', () => undefined)
  shell.stdin.on('error', () => undefined)
  shell.unref()
  return {
    watch(pid) {
      // Only a few bytes into an empty pipe.
      shell.stdin.write(`+ ${pid}\n`)
      return () => void (shell.stdin.writable && shell.stdin.write(`- ${pid}\n`))
    },
    dismiss: () => void shell.stdin.end(),
  }
}
