import { setTimeout } from 'node:timers/promises'
import { registryFolderIn } from '../../capture/index.js'
import { attachTo, liveCaptures, type LiveCapture } from '../../control/index.js'
import { WiretapeError } from '../../model/index.js'
import { onInterrupt } from '../interrupt.js'
import type { Io } from '../io.js'

/** A capture's socket exists this soon after its start. */
const socketWithinMs = 5_000

/** Shows the capture of this process until its user ends it or it ends. */
export async function openOwnScreen(io: Io): Promise<void> {
  const link = await attachTo(await ownCapture(registryFolderIn(io.dataFolder)), {
    role: 'screen',
    name: 'the screen of the capture itself',
  })
  const { runScreen } = await import('../../tui/index.js')
  const { stdin, stdout } = process
  const interrupt = onInterrupt()
  const { signal } = interrupt
  const { kept } = await runScreen({ link, owner: true, colours: io.colours, stdin, stdout, signal })
  interrupt.close()
  if (kept !== undefined) await io.complain(...wordsOfKept(kept))
}

/** Notice about an editor's text that outlives its screen. */
export function wordsOfKept(folder: string): [string, string] {
  return ['the editor was closed together with the screen', `the text may be in ${folder}`]
}

async function ownCapture(folder: string): Promise<LiveCapture> {
  const deadline = performance.now() + socketWithinMs
  for (;;) {
    const own = (await liveCaptures(folder)).find(({ pid }) => pid === process.pid)
    if (own?.socket !== undefined) return own
    if (performance.now() > deadline) {
      throw new WiretapeError('no-capture', 'the control socket of this capture did not open', {
        hint: 'recording continues; to work without a screen, connect a pipe to stdin',
      })
    }
    await setTimeout(20)
  }
}
