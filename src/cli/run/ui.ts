import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { exitCode } from '../exit-codes.js'
import type { Io } from '../io.js'
import { createCatalogue } from '../ui-catalogue.js'
import { viewerFolder } from '../viewer-folder.js'

export interface UiOptions {
  readonly port?: number
  readonly open: boolean
}

export async function runUi(
  files: readonly string[],
  { port = 0, open }: UiOptions,
  io: Io,
): Promise<number> {
  const catalogue = await createCatalogue(files, io)
  const { startUiServer } = await import('../../ui-server/index.js')
  const server = await startUiServer({ catalogue, viewer: viewerFolder(), port })
  try {
    await io.write(`viewer: ${server.url}\n`)
    await io.write('Whoever has this address can read the recordings. Ctrl+C ends it.\n')
    await io.flush()
    if (open) openBrowser(server.url)
    await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM'), once(process, 'SIGHUP')])
  } finally {
    await server.close()
  }
  return exitCode.done
}

/** Without one, the person still has the address. */
function openBrowser(url: string): void {
  const [program, ...args] =
    process.platform === 'darwin'
      ? ['open', url]
      : process.platform === 'win32'
        ? ['rundll32', 'url.dll,FileProtocolHandler', url]
        : ['xdg-open', url]
  const browser = spawn(program, args, { stdio: 'ignore', detached: true })
  browser.once('error', () => undefined)
  browser.unref()
}
