import { lstat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { WiretapeError } from '../model/index.js'
import { descriptorOf, outletAt } from '../tape/index.js'

/** `-` for any name of stdout, so that a command's own messages do not mix with the output. */
export function outputName(named: string): string {
  return descriptorOf(named) === 1 ? '-' : named
}

/**
 * Refuses to replace an existing output.
 *
 * @param named by the user
 * @param force a file may be replaced; a folder may not
 * @throws WiretapeError `usage`
 */
export async function refuseExisting(named: string, cwd: string, force = false): Promise<void> {
  const path = resolve(cwd, named)
  const there = await lstat(path).catch(() => undefined)
  if (!there || (await outletAt(path)) || (force && !there.isDirectory())) return
  throw new WiretapeError('usage', there.isDirectory() ? `${named} is a folder` : `${named} exists`, {
    hint: there.isDirectory() ? 'name a file in it' : 'choose another output, or replace it with --force',
  })
}
