import { createHash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'

/** `sun_path` holds 108 bytes on Linux and 104 elsewhere, including the final zero byte. */
const longestPath = 103

/**
 * Path for a capture's socket: in the user's runtime folder, else beside the registry, else in the temporary
 * folder. The first folder that is private and short enough is used; undefined if none is.
 *
 * @param session UUID of the session
 * @param registryFolder private folder of the registry
 */
export function makeSocketPath(
  session: string,
  registryFolder: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): string | undefined {
  if (process.platform === 'win32') return String.raw`\\.\pipe\wiretape-${session}`
  const runtime = env['XDG_RUNTIME_DIR'] ?? ''
  const own = createHash('sha256').update(registryFolder).digest('hex').slice(0, 8)
  const folders = [
    ...(isAbsolute(runtime) ? [join(runtime, 'wiretape')] : []),
    registryFolder,
    join(os.tmpdir(), `wiretape-${process.getuid?.() ?? 0}-${own}`),
    `/tmp/wiretape-${process.getuid?.() ?? 0}-${own}`,
  ]
  for (const folder of folders) {
    const path = join(folder, `${session.slice(0, 13)}.sock`)
    if (Buffer.byteLength(path) <= longestPath && makePrivate(folder)) return path
  }
  return undefined
}

/** Whether the folder is private to this user, created or fixed if needed. Links are rejected. */
export function makePrivate(folder: string): boolean {
  try {
    fs.mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) return false
  }
  try {
    const info = fs.lstatSync(folder)
    if (!info.isDirectory() || info.uid !== process.getuid?.()) return false
    if ((info.mode & 0o077) !== 0) fs.chmodSync(folder, 0o700)
    return true
  } catch {
    return false
  }
}

/** Whether only this user can have created the socket. */
export function isOwnSocket(path: string): boolean {
  if (process.platform === 'win32') return true
  try {
    const socket = fs.lstatSync(path)
    const folder = fs.lstatSync(dirname(path))
    const uid = process.getuid?.()
    return socket.isSocket() && socket.uid === uid && folder.uid === uid && (folder.mode & 0o022) === 0
  } catch {
    return false
  }
}
