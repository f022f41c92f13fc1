import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import os from 'node:os'
import { join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { detectFormat, detectionBytes, fromUtf16, utf16Fault, utf16Of } from '../formats/index.js'
import { WiretapeError, type Diagnostic } from '../model/index.js'
import { diskReason, readReason, readStart, removedAtSignal, type FileStart } from '../tape/index.js'
import { withProgress } from './progress.js'
import { canUnpack, packingOf, unpack, UnpackError, type PackedFault } from './unpack/index.js'

/** Private copies of inputs that can be read only once or are compressed. */
export interface Spools {
  /** Registers a folder for removal. */
  add(folder: string): void
  close(): Promise<void>
}

export function createSpools(): Spools {
  const folders: { readonly path: string; readonly guard: { close(): void } }[] = []
  return {
    add: (path) => void folders.push({ path, guard: removedAtSignal(path) }),
    async close() {
      for (const { path, guard } of folders.splice(0)) {
        await rm(path, { recursive: true, force: true })
        guard.close()
      }
    },
  }
}

/** A file that can be read repeatedly. */
export interface SpooledFile {
  /** As the user named it. */
  readonly name: string
  readonly path: string
  /** A problem of its compressed or UTF-16 source. */
  readonly fault?: Diagnostic
  /** Of the file itself; undefined for a copy. */
  readonly start?: FileStart
}

/**
 * The named file, or a private copy of stdin (`-`), of a pipe, of a compressed file's content, or of UTF-16 text in
 * UTF-8.
 *
 * @param onlyKnown stops early if the start has no known format
 * @throws WiretapeError `unreadable`
 */
export async function plainFile(
  argument: string,
  cwd: string,
  spools: Spools,
  onlyKnown: boolean,
): Promise<SpooledFile> {
  const name = argument === '-' ? 'stdin' : argument
  const named = argument === '-' ? undefined : resolve(cwd, argument)
  const start = named === undefined ? undefined : startOf(named)
  const path =
    named === undefined || (!start && (await isPipe(named)))
      ? await spool({ path: named, name, onlyKnown }, spools)
      : named
  const head = start?.head ?? firstBytes(path)
  const plain = await unpackedFile({ name, path, ...(start && { start }) }, head, spools, onlyKnown)
  const encoding = utf16Of(plain.path === path ? head : firstBytes(plain.path))
  if (encoding === undefined) return plain
  const through = (bytes: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> => fromUtf16(encoding, bytes)
  return {
    name,
    fault: plain.fault ?? utf16Fault,
    path: await spool({ path: plain.path, name, onlyKnown, through }, spools),
  }
}

/** A private copy of a compressed file's content; other files unchanged. */
async function unpackedFile(
  file: SpooledFile,
  head: Uint8Array,
  spools: Spools,
  onlyKnown: boolean,
): Promise<SpooledFile> {
  const { name, path } = file
  const packing = packingOf(head)
  if (!packing) return file
  if (!(await canUnpack(packing))) {
    const message = `cannot read ${name}: it is compressed with zstd, which Node ${process.versions.node} cannot read`
    throw new WiretapeError('unreadable', message, { hint: 'use zstdcat FILE | wiretape … -, or Node 22.15' })
  }
  let fault: PackedFault | undefined
  const unpacked = (bytes: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> =>
    unpack(packing, bytes, (found) => (fault = found))
  const copy = await spool({ path, name, onlyKnown, through: unpacked }, spools)
  if (fault === 'cut' && (await sizeOf(copy)) === 0) throw notUnpacked(name, faultOf(fault).message)
  return { name, path: copy, ...(fault && { fault: faultOf(fault) }) }
}

/** @param what problem of the compressed data */
export function notUnpacked(name: string, what: string, cause?: unknown): WiretapeError {
  const hint = 'check it with gzip -t FILE or zstd -t FILE'
  return new WiretapeError('unreadable', `cannot read ${name}: ${what}`, { hint, cause })
}

function faultOf(fault: PackedFault): Diagnostic {
  return fault === 'cut'
    ? { severity: 'error', code: 'packed-cut', message: 'the compressed data is truncated' }
    : {
        severity: 'warning',
        code: 'packed-rest',
        message: 'uncompressed data follows the compressed data; it was not read',
      }
}

/** Undefined if it cannot be read: opening it reports the error. */
function startOf(path: string): FileStart | undefined {
  try {
    return readStart(path)
  } catch {
    return undefined
  }
}

/** Empty if unreadable: opening it reports the error. */
function firstBytes(path: string): Uint8Array {
  return startOf(path)?.head ?? new Uint8Array(0)
}

/** `<(zcat tape.jsonl.gz)` and the like. */
async function isPipe(path: string): Promise<boolean> {
  const info = await stat(path).catch(() => undefined)
  return info !== undefined && (info.isFIFO() || info.isCharacterDevice())
}

interface SpoolSource {
  /** Undefined: stdin. */
  readonly path: string | undefined
  readonly name: string
  /** Stops early if the start has no known format. */
  readonly onlyKnown: boolean
  readonly through?: (bytes: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>
}

/** @returns the path of a private copy */
async function spool(
  { path, name, onlyKnown, through = (same) => same }: SpoolSource,
  spools: Spools,
): Promise<string> {
  const folder = await makeSpoolFolder(name)
  spools.add(folder)
  const copy = join(folder, 'spool')
  const source = path === undefined ? process.stdin : createReadStream(path)
  const target = createWriteStream(copy, { mode: 0o600 })
  // A failure of one is propagated to the other.
  let culprit: 'source' | 'target' | undefined
  source.once('error', () => (culprit ??= 'source'))
  target.once('error', () => (culprit ??= 'target'))
  const sizeBytes = path === undefined ? 0 : await sizeOf(path)
  const plain = through(withProgress(name, source, sizeBytes))
  try {
    await pipeline(onlyKnown ? whileItMayBeOne(plain) : plain, target)
    source.destroy()
  } catch (cause) {
    source.destroy()
    if (culprit === 'target') throw noSpool(name, folder, cause)
    if (cause instanceof UnpackError) throw notUnpacked(name, 'the compressed data is damaged', cause)
    throw new WiretapeError('unreadable', `cannot read ${name}: ${readReason(cause)}`, { cause })
  }
  return copy
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  )
}

/** Stops if it cannot be a recording, since input may be endless (`/dev/zero`). Opening the copy reports it. */
async function* whileItMayBeOne(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let head: Uint8Array | undefined = new Uint8Array(0)
  for await (const chunk of source) {
    yield chunk
    if (!head) continue
    head = Buffer.concat([head, chunk.subarray(0, detectionBytes - head.length)])
    if (head.length < detectionBytes) continue
    if (!detectFormat(head) && !packingOf(head) && utf16Of(head) === undefined) return
    head = undefined
  }
}

/** Falls back to `/tmp` if the environment's temporary folder is unusable. */
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
  const hint = 'choose another folder with TMPDIR'
  const message = `cannot keep a copy of ${name} in ${folder}: ${diskReason(cause)}`
  return new WiretapeError('unreadable', message, { hint, cause })
}
