import { createReadStream, watch, type FSWatcher } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { Catalogue, StoredContent } from './catalogue.js'

/** Polling interval of a growing file, besides notifications. */
const lookEveryMs = 250

/** Sends a file. A live one is followed through its next segments until the capture ends. */
export async function sendFile(path: string, response: ServerResponse, catalogue: Catalogue): Promise<void> {
  const { live } = await catalogue.progressOf(path)
  const { size } = await stat(path)
  response.setHeader('Content-Type', 'application/octet-stream')
  if (!live) {
    response.setHeader('Content-Length', size)
    response.writeHead(200)
    if (response.req.method === 'HEAD' || size === 0) response.end()
    else await pass(path, 0, size, response).then(() => response.end())
    return
  }
  response.writeHead(200)
  // The page gets its response at once.
  response.flushHeaders()
  await follow(path, response, catalogue)
  response.end()
}

/** Sends content that is not a local file, at the page's reading pace. */
export async function sendContent(
  { sizeBytes, chunks }: StoredContent,
  response: ServerResponse,
): Promise<void> {
  response.setHeader('Content-Type', 'application/octet-stream')
  response.setHeader('Content-Length', sizeBytes)
  if (response.req.method !== 'HEAD')
    for await (const chunk of chunks()) {
      if (response.destroyed) return
      // Headers wait for the first chunk, so an unreadable store can still be reported.
      if (!response.headersSent) response.writeHead(200)
      await writeAtPace(response, chunk)
    }
  response.end()
}

async function follow(first: string, response: ServerResponse, catalogue: Catalogue): Promise<void> {
  let path: string | undefined = first
  let gone = false
  response.once('close', () => (gone = true))
  while (path !== undefined && !gone) {
    const watched = await createAlarm(path, response, catalogue)
    try {
      let offset = 0
      for (;;) {
        const { live, next } = await catalogue.progressOf(path)
        const { size } = await stat(path)
        if (size > offset) {
          await pass(path, offset, size, response)
          offset = size
        } else if (next !== undefined || !live) {
          path = next
          break
        } else await watched.wait()
        if (gone) return
      }
    } finally {
      watched.close()
    }
  }
}

/**
 * Rings when the capture reports a write, when the response closes, and at an interval. If the capture cannot be
 * reached, the file system is watched.
 */
async function createAlarm(
  path: string,
  response: ServerResponse,
  catalogue: Catalogue,
): Promise<{ wait(): Promise<void>; close(): void }> {
  let ring: () => void = () => undefined
  /** It rang without a waiter. */
  let rung = false
  const changed = (): void => {
    rung = true
    ring()
  }
  const attended = await catalogue.attend(path, changed)
  const watcher = attended ? undefined : watchFile(path, changed)
  const closed = (): void => ring()
  response.once('close', closed)
  return {
    wait: () =>
      new Promise((resolve) => {
        const timer = setTimeout(done, lookEveryMs)
        function done(): void {
          clearTimeout(timer)
          rung = false
          resolve()
        }
        ring = done
        if (rung) done()
      }),
    close() {
      attended?.close()
      watcher?.close()
      response.off('close', closed)
    },
  }
}

function watchFile(path: string, changed: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(path, { persistent: false }, changed)
    watcher.on('error', () => undefined)
    return watcher
  } catch {
    // Some file systems report no changes.
    return undefined
  }
}

/** Resolves when the reader can take more or is gone. */
export async function writeAtPace(response: ServerResponse, chunk: string | Uint8Array): Promise<void> {
  if (!response.write(chunk)) await Promise.race([once(response, 'drain'), once(response, 'close')])
}

/** Bytes from `start` up to `end`, at the pace of the reader. */
async function pass(path: string, start: number, end: number, response: ServerResponse): Promise<void> {
  for await (const chunk of createReadStream(path, { start, end: end - 1, highWaterMark: 1 << 18 })) {
    if (response.destroyed) return
    await writeAtPace(response, chunk)
  }
}
