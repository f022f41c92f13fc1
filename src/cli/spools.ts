import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, open, rm, stat } from 'node:fs/promises'
import os from 'node:os'
import { join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Readable, Transform } from 'node:stream'
import { detectFormat, detectionBytes } from '../formats/index.js'
import { WiretapeError } from '../model/index.js'
import { diskReason } from '../tape/index.js'

/** Private copies of what can be read only once, or of what stands in compressed files. */
export interface Spools {
  /** Takes note of a folder that is to be removed. */
  add(folder: string): void
  close(): Promise<void>
}

export function createSpools(): Spools {
  const folders: string[] = []
  return {
    add: (folder) => void folders.push(folder),
    async close() {
      for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
    },
  }
}

/**
 * A file that can be read as often as wanted: the one that is named, or a private copy of stdin (`-`), of a pipe, or
 * of what a compressed file holds.
 *
 * @param onlyKnown ends early when the start is nothing we know
 * @throws WiretapeError `unreadable`
 */
export async function plainFile(
  argument: string,
  cwd: string,
  spools: Spools,
  onlyKnown: boolean,
): Promise<{ readonly name: string; readonly path: string }> {
  const name = argument === '-' ? 'stdin' : argument
  let path = argument === '-' ? undefined : resolve(cwd, argument)
  if (path === undefined || (await isPipe(path))) path = await spool(path, name, spools, onlyKnown)
  const unpack = await unpackerFor(path, name)
  if (unpack) path = await spool(path, name, spools, onlyKnown, unpack)
  return { name, path }
}

/** What unpacks the file, when it is packed. */
async function unpackerFor(path: string, name: string): Promise<Transform | undefined> {
  const packing = packingOf(await firstBytes(path))
  if (!packing) return undefined
  const zlib = await import('node:zlib')
  if (packing === 'gzip') return zlib.createGunzip()
  if ('createZstdDecompress' in zlib) return (zlib.createZstdDecompress as () => Transform)()
  const message = `cannot read ${name}: it is packed with zstd, which Node ${process.versions.node} cannot read`
  throw new WiretapeError('unreadable', message, { hint: 'zstdcat FILE | wiretape … -, or Node 22.15' })
}

/** Of RFC 1952 and RFC 8878. */
function packingOf(head: Uint8Array): 'gzip' | 'zstd' | undefined {
  if (head[0] === 0x1f && head[1] === 0x8b) return 'gzip'
  const zstd = [0x28, 0xb5, 0x2f, 0xfd]
  return zstd.every((byte, i) => head[i] === byte) ? 'zstd' : undefined
}

/** None of what cannot be read: who opens it says why. */
async function firstBytes(path: string): Promise<Uint8Array> {
  const head = new Uint8Array(4)
  try {
    const file = await open(path)
    try {
      const { bytesRead } = await file.read(head, 0, head.length, 0)
      return head.subarray(0, bytesRead)
    } finally {
      await file.close()
    }
  } catch {
    return head.subarray(0, 0)
  }
}

/** `<(zcat tape.jsonl.gz)` and the like. */
async function isPipe(path: string): Promise<boolean> {
  const info = await stat(path).catch(() => undefined)
  return info !== undefined && (info.isFIFO() || info.isCharacterDevice())
}

/**
 * A private copy: of `path`, or of stdin.
 *
 * @param onlyKnown ends early when the start is nothing we know
 */
async function spool(
  path: string | undefined,
  name: string,
  spools: Spools,
  onlyKnown: boolean,
  unpack?: Transform,
): Promise<string> {
  const folder = await makeSpoolFolder(name)
  spools.add(folder)
  const copy = join(folder, 'spool')
  const source = path === undefined ? process.stdin : createReadStream(path)
  const target = createWriteStream(copy, { mode: 0o600 })
  // A failure of one is passed on to the other.
  let culprit: 'source' | 'target' | 'unpack' | undefined
  source.once('error', () => (culprit ??= 'source'))
  target.once('error', () => (culprit ??= 'target'))
  unpack?.once('error', () => (culprit ??= 'unpack'))
  const plain: Readable = unpack ? passErrors(source, unpack) : source
  try {
    await (onlyKnown ? pipeline(plain, whileItMayBeOne, target) : pipeline(plain, target))
    source.destroy()
  } catch (cause) {
    source.destroy()
    if (culprit === 'target') throw noSpool(name, folder, cause)
    if (culprit === 'unpack') {
      const hint = 'gzip -t FILE tells more'
      throw new WiretapeError('unreadable', `cannot read ${name}: the packed data is damaged or cut off`, {
        cause,
        hint,
      })
    }
    throw new WiretapeError('unreadable', `cannot read ${name}: ${readReason(cause)}`, { cause })
  }
  return copy
}

/** What is no recording may have no end (`/dev/zero`). Who opens the copy says what is wrong with it. */
async function* whileItMayBeOne(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let head: Buffer | undefined = Buffer.alloc(0)
  for await (const chunk of source) {
    yield chunk
    if (!head) continue
    head = Buffer.concat([head, chunk.subarray(0, detectionBytes - head.length)])
    if (head.length < detectionBytes) continue
    if (!detectFormat(head) && !packingOf(head)) return
    head = undefined
  }
}

/** Where the temporary folder of the environment cannot be used, in `/tmp`. */
async function makeSpoolFolder(name: string): Promise<string> {
  const parent = os.tmpdir()
  try {
    return await makePrivateFolder(parent)
  } catch (cause) {
    try {
      return await makePrivateFolder('/tmp')
    } catch {
      throw noSpool(name, parent, cause)
    }
  }
}

function makePrivateFolder(parent: string): Promise<string> {
  return mkdtemp(join(parent, 'wiretape-'))
}

function noSpool(name: string, folder: string, cause: unknown): WiretapeError {
  const hint = 'TMPDIR can name another folder'
  const message = `cannot keep a copy of ${name} in ${folder}: ${diskReason(cause)}`
  return new WiretapeError('unreadable', message, { hint, cause })
}

function readReason(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return code === 'EBADF' ? 'it is not open for reading' : diskReason(cause)
}

/** `pipe` tells nobody when its source fails. */
function passErrors(source: Readable, unpack: Transform): Readable {
  source.once('error', (error: Error) => unpack.destroy(error))
  return source.pipe(unpack)
}
