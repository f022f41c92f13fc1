import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, rm, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import zlib from 'node:zlib'
import { decodeLine } from '../formats/index.js'
import { isDiskFull, writerTag } from '../tape/index.js'
import type { Manifest } from './manifest.js'
import type { Content } from './store/object-store.js'

/** Uncompressed bytes of a member: the unit that a reader fetches. */
const memberBytes = 256 * 1024
/** Longer lines are split. */
const longestMember = 1024 * 1024

/** Larger compressed segments need disk space. */
const mostInMemory = 64 * 1024 * 1024

export type Encoding = Manifest['encoding']

/** A segment's measurements and its compressed content. */
export interface SealedBytes {
  /** A temporary file, or the bytes themselves if the disk is full. */
  readonly content: Content
  readonly hash: string
  readonly bytes: number
  readonly encoding: Encoding
  readonly compressedBytes: number
  readonly members: Manifest['members']
  readonly messages: number
  readonly gaps: number
  readonly lost: number
}

type Compress = (bytes: Uint8Array) => Promise<Buffer>

/** Zstandard needs Node 22.15 or later. */
export const hasZstd = 'zstdCompress' in zlib

function compressorOf(encoding: Encoding): Compress {
  const compress =
    encoding === 'zstd' ? (zlib as unknown as { zstdCompress: typeof zlib.gzip }).zstdCompress : zlib.gzip
  return (bytes) =>
    new Promise((done, fail) => {
      compress(bytes, (error, result) => (error ? fail(error) : done(result)))
    })
}

interface Sink {
  write(bytes: Uint8Array): Promise<void>
  /** The content is complete. */
  finish(): Promise<Content>
  /** Deletes the content. */
  abandon(): Promise<void>
}

/**
 * Compresses a segment into a file of `folder`, member by member; on a full disk, into memory, since shipping frees space.
 *
 * @param countMessages whether to count, because the segment does not hold a count
 * @throws errors of the file system
 */
export async function sealBytes(
  source: string,
  folder: string,
  encoding: Encoding,
  countMessages: boolean,
): Promise<SealedBytes> {
  const sealInto = async (open: () => Promise<Sink>): Promise<SealedBytes> => {
    const sink = await open()
    try {
      return await sealTo(sink, source, encoding, countMessages)
    } catch (error) {
      await sink.abandon()
      throw error
    }
  }
  try {
    return await sealInto(() => fileSink(folder))
  } catch (error) {
    if (!isDiskFull(error)) throw error
    return sealInto(() => Promise.resolve(memorySink(error)))
  }
}

async function fileSink(folder: string): Promise<Sink> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, `${writerTag()}${randomUUID()}.part`)
  const file = await open(path, 'wx', 0o600)
  let size = 0
  return {
    async write(bytes) {
      await writeAll(file, bytes)
      size += bytes.length
    },
    async finish() {
      await file.close()
      return { path, size }
    },
    async abandon() {
      await file.close().catch(() => undefined)
      await rm(path, { force: true })
    },
  }
}

/** @param full the disk error, thrown for a segment that is too large for memory */
function memorySink(full: unknown): Sink {
  let pieces: Uint8Array[] = []
  let size = 0
  return {
    async write(bytes) {
      pieces.push(bytes)
      size += bytes.length
      if (size > mostInMemory) throw full
    },
    finish: () => Promise.resolve(Buffer.concat(pieces)),
    async abandon() {
      pieces = []
    },
  }
}

async function sealTo(
  sink: Sink,
  source: string,
  encoding: Encoding,
  countMessages: boolean,
): Promise<SealedBytes> {
  const compress = compressorOf(encoding)
  const hash = createHash('sha256')
  const members: Manifest['members'] = []
  const counts = { messages: 0, gaps: 0, lost: 0 }
  let bytes = 0
  let compressedBytes = 0
  for await (const member of membersOf(createReadStream(source, { highWaterMark: memberBytes }))) {
    hash.update(member)
    count(member, counts, countMessages)
    const compressed = await compress(member)
    await sink.write(compressed)
    members.push({ at: compressedBytes, length: compressed.length, from: bytes, bytes: member.length })
    bytes += member.length
    compressedBytes += compressed.length
  }
  const content = await sink.finish()
  return { content, hash: hash.digest('hex'), bytes, encoding, compressedBytes, members, ...counts }
}

/** A write of a file may take a part of the bytes only. */
export async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += (await file.write(bytes, at)).bytesWritten
}

/** Groups whole lines into members; splits only lines over `longestMember`. */
export async function* membersOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let waiting: Buffer = Buffer.alloc(0)
  for await (const chunk of chunks) {
    waiting = waiting.length === 0 ? Buffer.from(chunk) : Buffer.concat([waiting, chunk])
    while (waiting.length >= memberBytes) {
      const end = waiting.lastIndexOf(0x0a, memberBytes - 1) + 1
      const next = end > 0 ? end : waiting.indexOf(0x0a, memberBytes) + 1
      const cut =
        next > 0 && next <= longestMember ? next : waiting.length >= longestMember ? longestMember : 0
      if (cut === 0) break
      yield waiting.subarray(0, cut)
      waiting = waiting.subarray(cut)
    }
  }
  if (waiting.length > 0) yield waiting
}

/** Gaps are rare: for them alone, only members with the word are parsed. */
function count(
  member: Uint8Array,
  counts: { messages: number; gaps: number; lost: number },
  countMessages: boolean,
): void {
  const text = Buffer.from(member.buffer, member.byteOffset, member.length)
  if (!countMessages && !text.includes('"type":"gap"')) return
  for (const line of text.toString('utf8').split('\n')) {
    if (line === '' || (!countMessages && !line.includes('"type":"gap"'))) continue
    const decoded = decodeLine(line)
    if (!('record' in decoded)) continue
    const { record } = decoded
    if (record.type === 'message') counts.messages += record.parts.length
    if (record.type === 'gap') {
      counts.gaps += 1
      counts.lost += record.lost
    }
  }
}
