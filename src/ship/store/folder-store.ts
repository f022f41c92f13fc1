import { randomUUID } from 'node:crypto'
import { constants, createReadStream } from 'node:fs'
import { chmod, copyFile, link, open, opendir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { WiretapeError } from '../../model/index.js'
import { codeOf, diskReason, makeFolder, readReason, realDisk } from '../../tape/index.js'
import { checkKey, noSuchObject, type Content, type ObjectStore, type StoredObject } from './object-store.js'

/** Prefix of files being written, which are not objects. */
const beside = '.part-'
/** Uploads older than this are abandoned. */
const abandonedMs = 24 * 3_600_000

/** Modes of new files and folders in a store. */
interface Modes {
  readonly file: number
  readonly folder: number
}

const ownModes: Modes = { file: 0o600, folder: 0o700 }

/**
 * A folder as a store. A file gets its object's name only when it is complete. Its content is private to the user, or shared with
 * the folder's group if that may write to the folder and new files belong to it.
 */
export function createFolderStore(root: string): ObjectStore {
  let known: Promise<Modes> | undefined
  const modes = (): Promise<Modes> => (known ??= modesIn(root))
  const pathOf = (key: string): string => join(root, ...checkKey(key).split('/'))
  return {
    kind: 'folder',
    address: root,
    async put(key, content, { ifAbsent = false } = {}) {
      const path = pathOf(key)
      if (ifAbsent && (await sizeOf(path)) !== undefined) return 'there'
      const part = join(dirname(path), `${beside}${randomUUID()}`)
      try {
        const { file, folder } = await modes()
        await makeFolders(dirname(path), folder)
        await write(part, content, file)
        if (ifAbsent) {
          if (!(await place(part, path))) return 'there'
        } else await rename(part, path)
        await syncFolder(dirname(path))
        return 'stored'
      } catch (cause) {
        throw new WiretapeError('unreachable', `cannot write to ${root}: ${diskReason(cause)}`, { cause })
      } finally {
        await rm(part, { force: true }).catch(() => undefined)
      }
    },
    async *get(key, range) {
      const end = range && { start: range.at, end: range.at + range.length - 1 }
      if (range?.length === 0) return
      try {
        yield* createReadStream(pathOf(key), end) as AsyncIterable<Uint8Array>
      } catch (cause) {
        if (isMissing(cause)) throw noSuchObject(key, root)
        throw new WiretapeError('unreachable', `cannot read ${key} in ${root}: ${readReason(cause)}`, {
          cause,
        })
      }
    },
    async head(key) {
      const size = await sizeOf(pathOf(key))
      return size === undefined ? undefined : { key, size }
    },
    async *list(prefix) {
      // The deepest folder that holds every key of the prefix.
      const folder = prefix.includes('/') ? checkKey(prefix.slice(0, prefix.lastIndexOf('/'))) : ''
      yield* filesIn(join(root, ...folder.split('/')), root, prefix)
    },
    async delete(key) {
      await rm(pathOf(key), { force: true })
    },
    close: () => Promise.resolve(),
  }
}

async function modesIn(root: string): Promise<Modes> {
  const found = await stat(root).catch(() => undefined)
  if (!found?.isDirectory() || (found.mode & 0o020) === 0) return ownModes
  // New files get the folder's group with the setgid bit, and always on macOS; else the user's own group.
  const isInherited = (found.mode & 0o2000) !== 0 || process.platform === 'darwin'
  if (!isInherited && found.gid !== process.getegid?.()) return ownModes
  return { file: 0o660, folder: 0o770 | (found.mode & 0o2000) }
}

/** The mode of `mkdir` would be cut by the umask. */
async function makeFolders(folder: string, mode: number): Promise<void> {
  const first = makeFolder(folder, realDisk)
  if (first === undefined || mode === ownModes.folder) return
  for (let path = folder; path.length >= first.length; path = dirname(path)) await chmod(path, mode)
}

async function write(part: string, content: Content, mode: number): Promise<void> {
  if (!(content instanceof Uint8Array)) await copyFile(content.path, part, constants.COPYFILE_EXCL)
  const file = await open(part, content instanceof Uint8Array ? 'wx' : 'r+', 0o600)
  try {
    if (content instanceof Uint8Array) await file.writeFile(content)
    await file.chmod(mode)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Gives a file its name; false if the name is taken. */
async function place(part: string, path: string): Promise<boolean> {
  try {
    await link(part, path)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    // Without hard links: an exclusive copy would not be atomic, so the name is checked and then taken.
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(codeOf(error) ?? '')) throw error
    if ((await sizeOf(path)) !== undefined) return false
    await rename(part, path)
    return true
  }
}

/** A file name is durable only once its folder is synced, which not every system supports. */
async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, 'r')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  } catch {
    // Unsupported on Windows.
  }
}

async function* filesIn(folder: string, root: string, prefix: string): AsyncGenerator<StoredObject> {
  let entries
  try {
    entries = await opendir(folder)
  } catch (cause) {
    if (isMissing(cause)) return
    throw new WiretapeError('unreachable', `cannot list ${root}: ${readReason(cause)}`, { cause })
  }
  for await (const entry of entries) {
    const path = join(folder, entry.name)
    const key = relative(root, path).split(sep).join('/')
    if (entry.isDirectory()) {
      if (key.startsWith(prefix) || prefix.startsWith(`${key}/`)) yield* filesIn(path, root, prefix)
    } else if (entry.name.startsWith(beside)) await removeAbandoned(path)
    else if (entry.isFile() && key.startsWith(prefix)) {
      const size = await sizeOf(path)
      if (size !== undefined) yield { key, size }
    }
  }
}

async function removeAbandoned(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined)
  if (found && Date.now() - found.mtimeMs > abandonedMs)
    await rm(path, { force: true }).catch(() => undefined)
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    const found = await stat(path)
    return found.isFile() ? found.size : undefined
  } catch (error) {
    if (isMissing(error)) return undefined
    throw new WiretapeError('unreachable', `cannot read ${path}: ${readReason(error)}`, { cause: error })
  }
}

function isMissing(error: unknown): boolean {
  return codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR'
}
