import { WiretapeError } from '../../model/index.js'
import type { Io } from '../io.js'

/** Output of a capture that waits for clients. */
export interface Front {
  /** Clients can connect. `print` shows their URL. */
  listening(print: () => Promise<void>): void
  notice(line: string): void
  /** The capture has ended. Resolves when its screen is closed and all is printed. */
  over(): Promise<void>
}

/**
 * @param onScreen the terminal shows the capture and its user ends it; all output is printed after that
 */
export function createFront(onScreen: boolean, io: Io): Front {
  const notices: string[] = []
  let shown: Promise<void> | undefined
  return {
    listening(print) {
      shown = onScreen ? showScreen(print, io) : print()
    },
    notice(line) {
      if (onScreen) notices.push(line)
      else void io.complain(line)
    },
    async over() {
      await shown
      for (const line of notices.splice(0)) await io.complain(line)
    },
  }
}

/**
 * Prints the URL of a capture, the only line on stdout, and then advice to people.
 *
 * @param remoteUrl for clients on other hosts, if there may be some
 */
export async function printUrl(
  io: Io,
  url: string,
  remoteUrl: string | undefined,
  advice: readonly string[],
): Promise<void> {
  await io.write(`${url}\n`)
  await io.flush()
  const [first, ...more] = advice
  if (first === undefined) return
  await io.complain(first)
  if (remoteUrl !== undefined) await io.complain(`clients on other hosts need this URL: ${remoteUrl}`)
  for (const line of more) await io.complain(line)
}

/** If the screen fails, the capture continues without it. */
async function showScreen(otherwise: () => Promise<void>, io: Io): Promise<void> {
  try {
    const { openOwnScreen } = await import('./own-screen.js')
    await openOwnScreen(io)
  } catch (error) {
    if (error instanceof WiretapeError) await io.complain(error.message, error.hint)
    else
      await io.complain(
        `the screen failed, the capture continues: ${String(error)}`,
        'Ctrl+C ends the capture',
      )
    await otherwise()
  }
}
