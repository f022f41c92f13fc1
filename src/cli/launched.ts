/** Set by the launcher for installed servers. */
const variable = 'WIRETAPE_LAUNCHED'

let launched = false

/** Removes the launcher's variable from the environment, which servers get. To be called before anything is started. */
export function noteLaunch(): void {
  launched ||= process.env[variable] !== undefined
  delete process.env[variable]
}

/** Whether a client started this recorder through the launcher: its server is then always started. */
export function isLaunched(): boolean {
  return launched
}

/**
 * Starts the server of a `record` command line that failed before any start: a client that worked before `install`
 * also works without recording.
 *
 * @returns the exit status; undefined if the server must not or cannot be started
 */
export async function runUnrecorded(args: readonly string[]): Promise<number | undefined> {
  const at = args.indexOf('--')
  if (!isLaunched() || args[0] !== 'record' || at === -1) return undefined
  const { isForegroundGroup, startClient } = await import('../transports/index.js')
  const { forwardSignals } = await import('../capture/index.js')
  const server = await startClient(args.slice(at + 1), process.env)
  if ('error' in server) return undefined
  const signals = forwardSignals(isForegroundGroup, (signal) => server.kill(signal))
  try {
    return (await server.exited).exitCode
  } finally {
    signals.close()
  }
}
