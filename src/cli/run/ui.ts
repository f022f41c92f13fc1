import { once } from 'node:events'
import { join } from 'node:path'
import { WiretapeError } from '../../model/index.js'
import type { Catalogue } from '../../ui-server/index.js'
import { accessOf } from '../access.js'
import { exitCode } from '../exit-codes.js'
import type { Io } from '../io.js'
import { createCatalogue } from '../ui/catalogue.js'
import { actingScript, viewerFolder } from '../viewer-folder.js'
import { openBrowser } from './open-browser.js'

export interface UiOptions {
  readonly port?: number
  readonly open: boolean
  readonly openToAllUsers?: boolean
  /** A store to show instead of the data folder. */
  readonly at?: string
  /** Folder of saved calls. */
  readonly calls?: string
}

export async function runUi(
  files: readonly string[],
  { port = 0, open, openToAllUsers, calls, at }: UiOptions,
  io: Io,
): Promise<number> {
  const { catalogue, close } = await catalogueOf(files, at, calls, io)
  const { startUiServer } = await import('../../ui-server/index.js')
  const server = await startUiServer({
    catalogue,
    viewer: viewerFolder(),
    acting: actingScript(),
    port,
    access: { ...accessOf(openToAllUsers, 'ui', port, io), onNotice: (line) => void io.complain(line) },
  })
  // Await signals before printing the address: its reader may end us at once.
  const ended = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM'), once(process, 'SIGHUP')])
  let closeFile = (): void => undefined
  const printNext = async (word: string): Promise<void> => {
    await io.write(`${word}: ${server.newAddress(() => void printNext('another window'))}\n`)
    await io.flush()
  }
  try {
    await printNext('viewer')
    await io.write('This address opens one window. Ctrl+C stops the viewer.\n')
    await io.flush()
    if (open) {
      const address = server.newAddress(() => closeFile())
      closeFile = openBrowser(address, join(io.dataFolder, 'ui'))
    }
    await ended
  } finally {
    closeFile()
    await server.close()
    await close()
  }
  return exitCode.done
}

async function catalogueOf(
  files: readonly string[],
  at: string | undefined,
  calls: string | undefined,
  io: Io,
): Promise<{ readonly catalogue: Catalogue; readonly close: () => Promise<void> }> {
  if (at === undefined)
    return { catalogue: await createCatalogue(files, io, calls), close: () => Promise.resolve() }
  if (files.length > 0)
    throw new WiretapeError('usage', 'files and --at cannot be combined', { hint: 'give one of them' })
  const { createStoreCatalogue } = await import('../ui/store-catalogue.js')
  const stored = await createStoreCatalogue(at, io)
  // Detects a refusing store before a page is opened.
  await stored.catalogue.recordings()
  return stored
}
