import fs from 'node:fs'
import net from 'node:net'
import type { Announcement, ControlHost, TapeSource } from './host.js'
import type { Audience } from './server.js'
import { whyNotLoaded } from './why-not-loaded.js'

/** The control socket of a capture. */
export interface Control {
  /** Path of the socket; undefined if it cannot listen. Recording continues without it. */
  readonly path: string | undefined
  announce(announcement: Announcement): void
  /** The tape has grown. Costs nothing while no program is attached. */
  tapeGrew(): void
  /** Announces the end of the capture, and removes the socket. Can be called twice. */
  finish(): Promise<void>
}

/**
 * Listens for screens and scripts. The code that serves them is loaded on the first connection, so a capture without
 * any costs one socket.
 *
 * @param path in a private folder; undefined to not listen
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

  /** Recording continues. A failed load, such as without free descriptors, may succeed next time. */
  function cannotServe(socket: net.Socket): (error: unknown) => void {
    return (error) => {
      loading = undefined
      socket.end(`${JSON.stringify({ type: 'refused', code: 'version', message: whyNotLoaded(error) })}\n`)
    }
  }

  const server = net.createServer((socket) => {
    // An unhandled socket error would end the process.
    socket.on('error', () => undefined)
    loading ??= load()
    loading.then((all) => all.take(socket), cannotServe(socket))
  })
  // For example, no file descriptor is left: the connecting program notices; recording continues.
  server.on('error', () => undefined)
  const listening = path !== undefined && (await listen(server, path))
  // An attached screen does not keep a capture alive.
  server.unref()

  async function end(): Promise<void> {
    if (listening) server.close()
    // Node removes the socket when the server closes, but not if `close` was never called.
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
    // Left by a killed capture. The name contains a session UUID, so no other process uses it.
    if (process.platform !== 'win32') fs.rmSync(path, { force: true })
    server.once('error', () => resolve(false))
    server.listen(path, () => {
      try {
        if (process.platform !== 'win32') fs.chmodSync(path, 0o600)
      } catch {
        // The folder is private.
      }
      resolve(true)
    })
  })
}
