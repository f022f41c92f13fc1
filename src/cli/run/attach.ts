import { isatty } from 'node:tty'
import { registryFolderIn } from '../../capture/index.js'
import { attachTo, findCapture, liveCaptures, type LiveCapture } from '../../control/index.js'
import { WiretapeError, type MetaRecord } from '../../model/index.js'
import { formatDuration } from '../../render/index.js'
import { summarizeTape } from '../../tape/index.js'
import type { CaptureLink } from '../../tui/index.js'
import { exitCode } from '../exit-codes.js'
import { onInterrupt } from '../interrupt.js'
import type { Io } from '../io.js'
import { mergeLinks } from '../merged-link.js'
import { recordingPath } from '../recording-name.js'
import { openSaved } from '../saved-link.js'
import { wordsOfKept } from './own-screen.js'

/** Shows a live capture, or recordings, until the user leaves. */
export async function runAttach(names: readonly string[], io: Io): Promise<number> {
  if (!isatty(0) || !isatty(1)) {
    throw new WiretapeError('usage', 'attach needs a terminal', {
      hint: 'follow a capture with wiretape tail, print a recording with wiretape inspect',
    })
  }
  const registry = registryFolderIn(io.dataFolder)
  if (names.length > 0) return showTargets(await targetsOf(names, registry, io), io)
  const choosing = onInterrupt()
  const capture = await chosen(registry, io, choosing.signal)
  choosing.close()
  if (!capture) return choosing.signal.aborted ? choosing.exitCode() : exitCode.done
  return showTargets([capture], io)
}

/** A live capture, or the path of a recording. */
export type Target = LiveCapture | string

/** Looks up names among live captures first, then among recordings. */
async function targetsOf(names: readonly string[], registry: string, io: Io): Promise<Target[]> {
  return Promise.all(
    names.map(async (name) => {
      try {
        return await findCapture(registry, name)
      } catch (missing) {
        const path = await recordingPath(name, io).catch(() => undefined)
        // An unknown name was meant as a capture.
        if (path === undefined || (path === name && !/[./\\]/.test(name))) throw missing
        return path
      }
    }),
  )
}

/** Shows one live capture, several of them as one, or recordings, merged. */
export async function showTargets(targets: readonly Target[], io: Io): Promise<number> {
  const captures = targets.filter((target) => typeof target !== 'string')
  const isSaved = captures.length < targets.length
  const paths = targets.map((target) => (typeof target === 'string' ? target : target.tape))
  const link = isSaved ? await openSaved(paths, io) : await liveLink(captures)
  const { runScreen } = await import('../../tui/index.js')
  const { stdin, stdout } = process
  const interrupt = onInterrupt()
  const { signal } = interrupt
  const options = { link, owner: false, saved: isSaved, colours: io.colours, stdin, stdout, signal }
  const { reason, kept } = await runScreen(options)
  interrupt.close()
  if (kept !== undefined) await io.complain(...wordsOfKept(kept))
  if (signal.aborted) return interrupt.exitCode()
  if (reason !== 'lost') return exitCode.done
  await io.complain(`the capture ${link.hello.label} ended unexpectedly`, `its tape is ${link.hello.tape}`)
  return exitCode.found
}

async function liveLink(captures: readonly LiveCapture[]): Promise<CaptureLink> {
  const [only, ...others] = captures
  if (others.length === 0) return attachTo(only!, { role: 'screen', name: 'wiretape attach' })
  const links: CaptureLink[] = []
  const metas: MetaRecord[] = []
  for (const capture of captures) {
    const summary = await summarizeTape(capture.tape)
    if (!summary) throw new WiretapeError('no-capture', `the tape of ${capture.label} cannot be read`)
    metas.push(summary.meta)
    links.push(await attachTo(capture, { role: 'onlooker', name: 'wiretape attach' }))
  }
  return mergeLinks(links, metas)
}

/** The only capture, or a person's choice of several; undefined without a choice. */
async function chosen(folder: string, io: Io, signal: AbortSignal): Promise<LiveCapture | undefined> {
  let live = await newestFirst(folder)
  if (live.length < 2) return findCapture(folder, undefined)
  const { pickOne } = await import('../../tui/index.js')
  const { stdin, stdout } = process
  for (let gone = ''; ;) {
    const title = `${gone}${live.length === 1 ? '1 capture is' : `${live.length} captures are`} live`
    const choices = live.map(choiceOf)
    const at = await pickOne({ title, choices, colours: io.colours, stdin, stdout, signal })
    const capture = at === undefined ? undefined : live[at]
    if (!capture) return undefined
    // It may have ended during the choice.
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
