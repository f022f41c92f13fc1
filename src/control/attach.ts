import { WiretapeError } from '../model/index.js'
import type { CaptureConnection, ConnectOptions } from './client.js'
import { liveCaptures, type LiveCapture } from './registry.js'

/**
 * Finds a live capture by the start of its session UUID, by its label, or by its pid. Without a name, finds the only
 * live capture.
 *
 * @param folder of the registry
 * @throws WiretapeError `no-capture` if none matches, or more than one
 */
export async function findCapture(folder: string, name: string | undefined): Promise<LiveCapture> {
  const all = await liveCaptures(folder)
  if (all.length === 0) {
    throw new WiretapeError('no-capture', 'no capture is live', {
      hint: 'start one with wiretape record -- <server command>',
    })
  }
  const meant = name === undefined ? all : named(all, name)
  if (meant.length === 1) return meant[0]!
  const list = (captures: readonly LiveCapture[]): string =>
    captures.map(({ session, label }) => `${session.slice(0, 8)} (${label})`).join(', ')
  if (meant.length === 0) {
    throw new WiretapeError('no-capture', `no live capture has the name ${JSON.stringify(name)}`, {
      hint: `live captures: ${list(all.slice(0, 10))}`,
    })
  }
  const which = name === undefined ? `${meant.length} captures are live` : `${JSON.stringify(name)} may be`
  throw new WiretapeError('no-capture', `${which}: ${list(meant.slice(0, 10))}`, { hint: 'name one' })
}

function named(all: readonly LiveCapture[], name: string): LiveCapture[] {
  const byId = all.filter(({ session }) => session.startsWith(name.toLowerCase()))
  if (byId.length > 0 && name !== '') return byId
  return all.filter(({ label, pid }) => label === name || String(pid) === name)
}

/**
 * Attaches to a live capture.
 *
 * @throws WiretapeError `no-capture`
 */
export async function attachTo(capture: LiveCapture, options: ConnectOptions): Promise<CaptureConnection> {
  if (capture.socket === undefined) {
    throw new WiretapeError('no-capture', `${capture.label} has no control socket`, {
      hint: 'it is still starting, runs an older wiretape, or could not create a private folder with a short name',
    })
  }
  const { connectCapture } = await import('./client.js')
  return connectCapture(capture.socket, options)
}
