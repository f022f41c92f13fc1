/** Set by the launcher of installed servers. */
const variable = 'WIRETAPE_LAUNCHED'

/**
 * True in a recorder that a client started through the launcher: its server is started in any case. The server does
 * not see the variable.
 */
export const isLaunched = process.env[variable] !== undefined
delete process.env[variable]

/**
 * Starts the server of a command line of `record` that failed before it started anything: a client that worked before
 * `install` works when nothing can be recorded.
 *
 * @returns what to exit with; undefined when the server must not, or cannot, be started
 */
export async function runUnrecorded(args: readonly string[]): Promise<number | undefined> {
  const at = args.indexOf('--')
  if (!isLaunched || args[0] !== 'record' || at === -1) return undefined
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
