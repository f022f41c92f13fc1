import { isatty } from 'node:tty'
import { registryFolderIn } from '../../capture/index.js'
import { attachTo, findCapture, liveCaptures, type LiveCapture } from '../../control/index.js'
import { WiretapeError } from '../../model/index.js'
import { formatDuration } from '../../render/index.js'
import { exitCode } from '../exit-codes.js'
import { onInterrupt } from '../interrupt.js'
import type { Io } from '../io.js'
import { wordsOfKept } from './own-screen.js'

/** Shows a live capture until the user leaves it. */
export async function runAttach(name: string | undefined, io: Io): Promise<number> {
  if (!isatty(0) || !isatty(1)) {
    throw new WiretapeError('usage', 'attach needs a terminal', {
      hint: 'wiretape tail follows a capture in plain lines',
    })
  }
  const choosing = onInterrupt()
  const capture = await chosen(registryFolderIn(io.dataFolder), name, io, choosing.signal)
  choosing.close()
  if (!capture) return choosing.signal.aborted ? choosing.exitCode() : exitCode.done
  const link = await attachTo(capture, { role: 'screen', name: 'wiretape attach' })
  const { runScreen } = await import('../../tui/index.js')
  const { stdin, stdout } = process
  const interrupt = onInterrupt()
  const { signal } = interrupt
  const { reason, kept } = await runScreen({ link, owner: false, colours: io.colours, stdin, stdout, signal })
  interrupt.close()
  if (kept !== undefined) await io.complain(...wordsOfKept(kept))
  if (signal.aborted) return interrupt.exitCode()
  if (reason !== 'lost') return exitCode.done
  await io.complain(`the capture ${capture.label} went away without a word`, `its tape is ${capture.tape}`)
  return exitCode.found
}

/** The capture that is named, or the one a person chooses of several; undefined when they choose none. */
async function chosen(
  folder: string,
  name: string | undefined,
  io: Io,
  signal: AbortSignal,
): Promise<LiveCapture | undefined> {
  let live = name === undefined ? await newestFirst(folder) : []
  if (live.length < 2) return findCapture(folder, name)
  const { pickOne } = await import('../../tui/index.js')
  const { stdin, stdout } = process
  for (let gone = ''; ;) {
    const title = `${gone}${live.length === 1 ? '1 capture is' : `${live.length} captures are`} live`
    const choices = live.map(choiceOf)
    const at = await pickOne({ title, choices, colours: io.colours, stdin, stdout, signal })
    const capture = at === undefined ? undefined : live[at]
    if (!capture) return undefined
    // It may have ended while somebody chose.
    live = await newestFirst(folder)
    if (live.some(({ session }) => session === capture.session)) return capture
    if (live.length === 0) return findCapture(folder, undefined)
    gone = `${capture.label} has ended; `
  }
}

async function newestFirst(folder: string): Promise<LiveCapture[]> {
  const live = await liveCaptures(folder)
  return live.toSorted((a, b) => b.startedAt.localeCompare(a.startedAt))
}

function choiceOf({ label, session, pid, startedAt }: LiveCapture): { name: string; about: string } {
  const forUs = Math.max(0, Date.now() - Date.parse(startedAt)) * 1000
  return { name: label, about: `${session.slice(0, 8)}  pid ${pid}  for ${formatDuration(forUs)}` }
}
