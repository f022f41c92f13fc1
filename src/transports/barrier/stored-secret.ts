import { createHash } from 'node:crypto'
import fs from 'node:fs'
import { join } from 'node:path'
import { newSecret } from './barrier.js'

/**
 * The secret of a listening address. Later runs with the same label and port reuse it, so that the configuration of
 * clients stays valid. A secret that others could have read or written is replaced.
 *
 * @param folder created when missing
 */
export function storedSecret(folder: string, label: string, port: number): string {
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  const name = createHash('sha256').update(`${label}\0${port}`).digest('hex').slice(0, 32)
  const path = join(folder, name)
  const known = readSecret(path)
  if (known !== undefined) return known
  const secret = newSecret()
  const draft = `${path}.${process.pid}.new`
  fs.rmSync(draft, { force: true })
  fs.writeFileSync(draft, `${secret}\n`, { mode: 0o600, flag: 'wx' })
  fs.renameSync(draft, path)
  return secret
}

function readSecret(path: string): string | undefined {
  try {
    const { mode, uid } = fs.lstatSync(path)
    const isPrivate = process.platform === 'win32' || ((mode & 0o077) === 0 && uid === process.geteuid?.())
    if ((mode & fs.constants.S_IFMT) !== fs.constants.S_IFREG || !isPrivate) return undefined
    return /^([0-9a-f]{32})\n$/.exec(fs.readFileSync(path, 'latin1'))?.[1]
  } catch {
    return undefined
  }
}
