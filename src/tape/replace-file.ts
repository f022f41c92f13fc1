import { randomUUID } from 'node:crypto'
import {
  chmod,
  constants,
  copyFile,
  link,
  lstat,
  open,
  readdir,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  type FileHandle,
} from 'node:fs/promises'
import type { Stats } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { WiretapeError } from '../model/index.js'
import { diskReason, realDisk } from './disk.js'
import { makeFolder } from './make-folder.js'
import { openOutlet, outletAt, writeAll, type Outlet } from './outlet.js'
import { removedAtSignal } from './removed-at-signal.js'
import { isAbandoned, writerTag } from './temporary-name.js'

/** Maximum length of a chain of links; systems follow no more. */
const mostHops = 40

/**
 * Writes a file, for its owner only, beside the existing one, and renames it once it is complete and on the disk: a
 * failure, or a signal that ends the process, changes nothing. Missing folders are created; a symbolic link of the own
 * user or root continues to point at the new file; a device or pipe is written to directly.
 *
 * @param content all of it, or its chunks
 * @param options.backup keep the existing file as `<path>.bak`, or the first free of `<path>.bak.1`, …
 * @param options.own result of an earlier call: that file needs no backup
 * @returns identity of the new file; undefined for devices and pipes
 * @throws WiretapeError `unwritable`; errors of the chunks are passed through
 */
export async function replaceFile(
  path: string,
  content: string | Uint8Array | AsyncIterable<Uint8Array>,
  options: { backup?: boolean; own?: FileIdentity } = {},
): Promise<FileIdentity | undefined> {
  let source: { readonly error: unknown } | undefined
  async function copyTo(write: (bytes: Uint8Array) => Promise<void>): Promise<void> {
    if (typeof content === 'string') return write(Buffer.from(content))
    if (content instanceof Uint8Array) return write(content)
    const iterator = content[Symbol.asyncIterator]()
    const next = (): Promise<IteratorResult<Uint8Array>> =>
      iterator.next().catch((error: unknown) => {
        source = { error }
        throw error
      })
    try {
      for (let step = await next(); !step.done;) {
        // The next chunk is produced while this one is written.
        const [written, made] = await Promise.allSettled([write(step.value), next()])
        if (written.status === 'rejected') throw written.reason
        if (made.status === 'rejected') throw made.reason
        step = made.value
      }
    } finally {
      await iterator.return?.()
    }
  }
  let copy: string | undefined
  let file: FileHandle | undefined
  let guard: { close(): void } | undefined
  try {
    await refuseForeignLink(path)
    const outlet = await outletAt(path)
    if (outlet) {
      await pass(path, outlet, copyTo)
      return undefined
    }
    makeFolder(dirname(path), realDisk)
    const target = await placeOf(path)
    const before = await stat(target).catch(() => undefined)
    if (before?.isDirectory()) throw new WiretapeError('unwritable', `cannot write ${path}: it is a folder`)
    await removeLeftovers(target)
    copy = copyPath(target)
    guard = removedAtSignal(copy)
    const opened = await open(copy, 'wx', 0o600)
    file = opened
    const flush = createFlush(opened)
    await copyTo(async (bytes) => {
      await writeAll(opened.fd, bytes)
      flush.wrote(bytes.length)
    })
    await flush.done()
    await file.sync()
    const identity = identityOf(await file.stat())
    await file.close()
    if (options.backup) await keepOthers(target, options.own)
    await rename(copy, target)
    return identity
  } catch (cause) {
    await file?.close().catch(() => undefined)
    if (copy !== undefined) await rm(copy, { force: true }).catch(() => undefined)
    if (source) throw source.error
    if (cause instanceof WiretapeError) throw cause
    throw new WiretapeError('unwritable', `cannot write ${path}: ${diskReason(cause)}`, { cause })
  } finally {
    guard?.close()
  }
}

/** Bytes after which the disk starts. */
const flushBytes = 32 * 1024 * 1024

/** Lets the disk write while further bytes are made: otherwise it begins at the end, and the file waits for all of it. */
function createFlush(file: FileHandle): { wrote(sizeBytes: number): void; done(): Promise<void> } {
  let unflushed = 0
  let isFlushing = false
  let last = Promise.resolve()
  return {
    wrote(sizeBytes) {
      unflushed += sizeBytes
      if (isFlushing || unflushed < flushBytes) return
      unflushed = 0
      isFlushing = true
      // The system reports an error of the disk only once.
      last = last.then(() => file.datasync()).then(() => void (isFlushing = false))
      last.catch(() => undefined)
    },
    done: () => last,
  }
}

async function pass(
  path: string,
  outlet: Outlet,
  copyTo: (write: (bytes: Uint8Array) => Promise<void>) => Promise<void>,
): Promise<void> {
  const opened = await openOutlet(path, outlet)
  try {
    await copyTo((bytes) => opened.write(bytes))
  } catch (error) {
    // A reader that closes the pipe early is no failure.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPIPE')) throw error
  } finally {
    await opened.close()
  }
}

/** Identity of the file at a path. */
export interface FileIdentity {
  readonly dev: number
  readonly ino: number
  readonly sizeBytes: number
  readonly mtimeMs: number
}

function identityOf({ dev, ino, size, mtimeMs }: Stats): FileIdentity {
  return { dev, ino, sizeBytes: size, mtimeMs }
}

function isSame(a: FileIdentity, b: FileIdentity): boolean {
  return a.dev === b.dev && a.ino === b.ino && a.sizeBytes === b.sizeBytes && a.mtimeMs === b.mtimeMs
}

/** Whether the file at `path` is still the same. */
export async function isUntouched(path: string, identity: FileIdentity): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found !== undefined && isSame(identityOf(found), identity)
}

/** Backs up the file at `target`. Another program may replace it meanwhile: its file is backed up too. */
async function keepOthers(target: string, own: FileIdentity | undefined): Promise<void> {
  let known = own
  for (;;) {
    const found = await stat(target).catch(() => undefined)
    if (!found || (known && isSame(identityOf(found), known))) return
    await keep(target)
    known = identityOf(found)
  }
}

/** Adds a second name for the file, so that it always exists; a copy where links are not supported. */
async function keep(target: string): Promise<void> {
  const backup = await freeName(`${target}.bak`)
  await link(target, backup).catch(() => copyFile(target, backup, constants.COPYFILE_EXCL))
  await chmod(backup, 0o600)
}

/** The name, or the first free of `name.1`, `name.2`, …: older files stay. */
async function freeName(name: string): Promise<string> {
  for (let number = 0; ; number += 1) {
    const tried = number === 0 ? name : `${name}.${number}`
    const taken = await lstat(tried).catch(() => undefined)
    if (!taken) return tried
  }
}

/** Actual path of a file, after symbolic links, including links to files that do not exist yet. */
async function placeOf(path: string): Promise<string> {
  const found = await realpath(path).catch(() => undefined)
  if (found !== undefined) return found
  const named = await readlink(path).catch(() => undefined)
  return named === undefined ? path : resolve(dirname(path), named)
}

/** A link of another user could redirect the write to a path of that user's choice. */
async function refuseForeignLink(path: string): Promise<void> {
  const own = process.geteuid?.()
  if (own === undefined) return
  let at = path
  for (let hop = 0; hop < mostHops; hop += 1) {
    const info = await lstat(at).catch(() => undefined)
    if (!info?.isSymbolicLink()) return
    if (info.uid !== own && info.uid !== 0)
      throw new WiretapeError(
        'unwritable',
        `cannot write ${path}: ${at} is a link of another user (uid ${info.uid})`,
      )
    at = resolve(dirname(at), await readlink(at))
  }
}

/** Beside the target, so that it can be renamed; the name contains the process that owns it. */
function copyPath(target: string): string {
  return join(dirname(target), `${copyPrefix(target)}${writerTag()}${randomUUID().slice(0, 8)}.tmp`)
}

function copyPrefix(target: string): string {
  return `.${basename(target).slice(0, 64)}.wiretape-`
}

/** Removes copies of killed writers. */
async function removeLeftovers(target: string): Promise<void> {
  const prefix = copyPrefix(target)
  for (const name of await readdir(dirname(target)).catch(() => [])) {
    const path = join(dirname(target), name)
    if (name.startsWith(prefix) && (await isAbandoned(path, name.slice(prefix.length))))
      await rm(path, { force: true })
  }
}

/**
 * Checks early whether `replaceFile` could write to the path, and removes the leftovers of killed writers.
 *
 * @throws WiretapeError `unwritable`
 */
export async function checkReplaceable(path: string): Promise<void> {
  try {
    await refuseForeignLink(path)
    if (await outletAt(path)) return
    makeFolder(dirname(path), realDisk)
    const target = await placeOf(path)
    const before = await stat(target).catch(() => undefined)
    if (before?.isDirectory()) throw new WiretapeError('unwritable', `cannot write ${path}: it is a folder`)
    await removeLeftovers(target)
    const copy = copyPath(target)
    const file = await open(copy, 'wx', 0o600)
    await file.close()
    await rm(copy)
  } catch (cause) {
    if (cause instanceof WiretapeError) throw cause
    throw new WiretapeError('unwritable', `cannot write ${path}: ${diskReason(cause)}`, { cause })
  }
}
