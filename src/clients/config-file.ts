import { randomUUID } from 'node:crypto'
import { chmod, chown, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** A configuration file as it was read. */
export interface ConfigFile {
  /** The client's path; may be a symbolic link. */
  readonly path: string
  /** Resolved path. */
  readonly real: string
  readonly bytes: Buffer
  /** Without the byte order mark. */
  readonly text: string
}

/** Undefined if the file is missing. @throws Error with a readable message */
export async function readConfigFile(path: string): Promise<ConfigFile | undefined> {
  let real: string
  let bytes: Buffer
  try {
    real = await realpath(path)
    const info = await stat(real)
    if (!info.isFile()) throw new Error('it is not a regular file')
    if (info.size > longestBytes) throw new Error('it is larger than 64 MiB')
    bytes = await readFile(real)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw error
  }
  try {
    // Drops the byte order mark; `encode` puts it back.
    return { path, real, bytes, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch {
    throw new Error('it is not UTF-8')
  }
}

const longestBytes = 64 * 1024 * 1024
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])

/** Encodes a new text, with the file's byte order mark. */
function encode(file: ConfigFile, text: string): Buffer {
  const body = Buffer.from(text)
  return file.bytes.subarray(0, 3).equals(byteOrderMark) ? Buffer.concat([byteOrderMark, body]) : body
}

/**
 * Replaces a file atomically; owner, mode and symbolic links stay.
 *
 * @throws Error if the file is read-only or has changed since it was read: its client may be writing it
 */
export async function writeConfigFile(file: ConfigFile, text: string): Promise<void> {
  const { mode, uid, gid } = await stat(file.real)
  if ((mode & 0o200) === 0) throw new Error('it is read-only')
  const copy = join(
    dirname(file.real),
    `.${basename(file.real)}.wiretape-${process.pid}-${randomUUID().slice(0, 8)}`,
  )
  const handle = await open(copy, 'wx', mode & 0o7777)
  try {
    await handle.writeFile(encode(file, text))
    await handle.sync()
    await handle.close()
    await chmod(copy, mode & 0o7777)
    const made = await stat(copy)
    if (made.uid !== uid || made.gid !== gid) await chown(copy, uid, gid)
    if (!(await readFile(file.real)).equals(file.bytes))
      throw new Error('another program changed it at the same time; run the command again')
    await rename(copy, file.real)
  } catch (error) {
    await handle.close().catch(() => undefined)
    await rm(copy, { force: true })
    throw error
  }
}
