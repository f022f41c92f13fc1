import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { WiretapeError } from '../model/index.js'
import { escapeText } from '../render/index.js'
import { codeOf, diskReason, makeFolder, realDisk } from '../tape/index.js'

const keyBytes = 32

/**
 * The key for the tags of secrets, as hexadecimal digits. Created if missing. Readers of the key can test guesses at
 * secrets, so the file must be private.
 *
 * @param path absolute
 * @throws WiretapeError `usage` if other users can read the file or it is no key
 */
export function readTagKey(path: string): string {
  return readKey(path, 'tags')
}

function readKey(path: string, use: string): string {
  const unusable = (why: string, hint: string): WiretapeError =>
    new WiretapeError('usage', `${escapeText(path)} is not a key for ${use}: ${why}`, { hint })
  try {
    makeOnce(path)
    const { size, mode, uid } = statSync(path)
    const isOthers = process.getuid !== undefined && uid !== process.getuid()
    if (isOthers || (process.platform !== 'win32' && (mode & 0o077) !== 0))
      throw unusable('other users can read it', `chmod 600 ${escapeText(path)}`)
    const bytes = size === keyBytes ? readFileSync(path) : Buffer.alloc(0)
    if (bytes.length !== keyBytes)
      throw unusable(`it does not have ${keyBytes} bytes`, 'name a new file, which wiretape then creates')
    return bytes.toString('hex')
  } catch (problem) {
    if (problem instanceof WiretapeError) throw problem
    throw new WiretapeError(
      'usage',
      `cannot use ${escapeText(path)} as the key for ${use}: ${diskReason(problem)}`,
      {
        hint:
          codeOf(problem) === 'ENOENT' ? 'create the folder first' : 'name a file in a folder of your own',
      },
    )
  }
}

/**
 * The key that identifies this user's recordings, as hexadecimal digits. Created with the first recording. Undefined
 * on failure, which stops no recording.
 */
export function originKeyIn(dataFolder: string): string | undefined {
  try {
    makeFolder(dataFolder, realDisk)
    return readKey(join(dataFolder, 'origin.key'), 'recordings')
  } catch {
    return undefined
  }
}

/** Atomic, since another recorder may start at the same time. */
function makeOnce(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })) return
  const own = `${path}.${process.pid}.new`
  writeFileSync(own, randomBytes(keyBytes), { mode: 0o600, flag: 'wx' })
  try {
    linkSync(own, path)
  } catch (problem) {
    if ((problem as NodeJS.ErrnoException).code !== 'EEXIST') throw problem
  } finally {
    rmSync(own)
  }
}
