import fs from 'node:fs'
import net from 'node:net'
import type { Announcement, ControlHost, TapeSource } from './host.js'
import type { Audience } from './server.js'
import { whyNotLoaded } from './why-not-loaded.js'

/** The control socket of a capture. */
export interface Control {
  /** Where it listens; undefined when it cannot: a recording goes on without it. */
  readonly path: string | undefined
  announce(announcement: Announcement): void
  /** More is on the tape. Costs nothing while nobody is attached. */
  tapeGrew(): void
  /** Tells all that the capture is over, and takes the socket away. Can be called twice. */
  finish(): Promise<void>
}

/**
 * Listens for screens and scripts. What serves them is loaded when the first one comes: a capture that nobody attaches
 * to pays for one socket.
 *
 * @param path where, in a folder that is private to us; undefined for nowhere
 */
export async function startControl(
  path: string | undefined,
  host: ControlHost,
  tape: TapeSource,
): Promise<Control> {
  let audience: Audience | undefined
  let loading: Promise<Audience> | undefined
  let finished: Promise<void> | undefined

  async function load(): Promise<Audience> {
    const { createAudience } = await import('./server.js')
    return (audience ??= createAudience(host, tape))
  }

  /** The recording goes on. What could not be loaded, as without descriptors, may be there for the next one. */
  function cannotServe(socket: net.Socket): (error: unknown) => void {
    return (error) => {
      loading = undefined
      socket.end(`${JSON.stringify({ type: 'refused', code: 'version', message: whyNotLoaded(error) })}\n`)
    }
  }

  const server = net.createServer((socket) => {
    // Errors of a socket that nobody listens to would end us.
    socket.on('error', () => undefined)
    loading ??= load()
    loading.then((all) => all.take(socket), cannotServe(socket))
  })
  // A descriptor too many, for example: who attaches sees it; the recording goes on.
  server.on('error', () => undefined)
  const listening = path !== undefined && (await listen(server, path))
  // A screen that is attached does not keep a capture alive.
  server.unref()

  async function end(): Promise<void> {
    if (listening) server.close()
    // Node removes the socket itself when it closes the server, but not when it was never closed.
    if (path !== undefined && process.platform !== 'win32') fs.rmSync(path, { force: true })
    await loading?.then((all) => all.finish()).catch(() => undefined)
  }

  return {
    path: listening ? path : undefined,
    announce: (announcement) => audience?.announce(announcement),
    tapeGrew: () => audience?.tapeGrew(),
    finish: () => (finished ??= end()),
  }
}

function listen(server: net.Server, path: string): Promise<boolean> {
  return new Promise((resolve) => {
    // Left by a capture that was killed: the name is made of a session's UUID, so it is nobody else's.
    if (process.platform !== 'win32') fs.rmSync(path, { force: true })
    server.once('error', () => resolve(false))
    server.listen(path, () => {
      try {
        if (process.platform !== 'win32') fs.chmodSync(path, 0o600)
      } catch {
        // Its folder is private.
      }
      resolve(true)
    })
  })
}
