import { spawn } from 'node:child_process'

/** Ends processes when we are killed and cannot do so ourselves. */
export interface Watchdog {
  /** Whom to end. @returns says that it is gone by itself */
  watch(pid: number): () => void
  /** There is nobody to end any more. */
  dismiss(): void
}

export interface WatchdogOptions {
  /** Each leads a process group, and all of the group are ended. @default false */
  readonly groups?: boolean
}

/**
 * Told of pids line by line (`+ PID`, `- PID`); the end of its input comes when nobody is there any more who tells. Whom it
 * knows then is given what the official clients give a server, which has seen the end of its input too: 2 s until
 * SIGTERM, and 2 s until SIGKILL. A client is told at once, as by a terminal that closes, since shells listen to that only.
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

/** Needs a shell; where there is none, nobody watches. */
export function startWatchdog({ groups = false }: WatchdogOptions = {}): Watchdog {
  if (process.platform === 'win32') return { watch: () => () => undefined, dismiss: () => undefined }
  const text = groups ? script('-$pid', 'grace') : script('$pid', 'tell HUP')
  const shell = spawn('/bin/sh', ['-c', text], { stdio: ['pipe', 'ignore', 'ignore'] })
  shell.on('error', () => undefined)
  shell.stdin.on('error', () => undefined)
  shell.unref()
  return {
    watch(pid) {
      // A few bytes into an empty pipe.
      shell.stdin.write(`+ ${pid}\n`)
      return () => void (shell.stdin.writable && shell.stdin.write(`- ${pid}\n`))
    },
    dismiss: () => void shell.stdin.end(),
  }
}
