import { constants } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { longestMessage } from '../../wire/index.js'

const mostBytes = longestMessage
const chunkBytes = 256 * 1024
/** How long the writer of a pipe may take. */
const patienceMs = 2_000
const nobodyWrites = 'it is a pipe without a writer'
const tooLarge = 'is larger than 64 MB'

/** A text, or the reason in words why there is none. */
export type TextRead = { readonly text: string } | { readonly problem: string }

/**
 * Reads a text file that is named while a capture runs. Ends for any kind of file, and uses no more memory than the
 * largest allowed file.
 */
export async function readText(path: string): Promise<TextRead> {
  try {
    const bytes = await readBytes(path)
    return typeof bytes === 'string' ? { problem: bytes } : readUtf8(bytes)
  } catch (error) {
    return { problem: reasonOf(error) }
  }
}

/** As `readText`, from a stream: reads to its end, however long that takes. */
export async function readTextFrom(chunks: AsyncIterable<Uint8Array>): Promise<TextRead> {
  try {
    const read: Uint8Array[] = []
    let sizeBytes = 0
    for await (const chunk of chunks) {
      read.push(chunk)
      sizeBytes += chunk.length
      if (sizeBytes > mostBytes) return { problem: tooLarge }
    }
    return readUtf8(Buffer.concat(read))
  } catch (error) {
    return { problem: reasonOf(error) }
  }
}

/** A string is the reason why it is not a readable file. */
async function readBytes(path: string): Promise<Buffer | string> {
  // A pipe without a writer would block for ever, and occupy a thread.
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    const stat = await file.stat()
    if (stat.isDirectory()) return 'it is a folder'
    const isPipe = stat.isFIFO()
    if (!stat.isFile() && !isPipe) return 'it is not a file'
    const chunks: Buffer[] = []
    let sizeBytes = 0
    const until = performance.now() + patienceMs
    // Some files, such as those of /proc, report no size.
    while (sizeBytes <= mostBytes) {
      const bytes = await readSome(file)
      if (bytes?.length === 0) return isPipe && sizeBytes === 0 ? nobodyWrites : Buffer.concat(chunks)
      if (bytes) {
        chunks.push(bytes)
        sizeBytes += bytes.length
      } else {
        if (performance.now() > until) return nobodyWrites
        await setTimeout(20)
      }
    }
    return tooLarge
  } finally {
    await file.close()
  }
}

/** Undefined while there is nothing to read, as from a pipe with a slow writer. */
async function readSome(file: FileHandle): Promise<Buffer | undefined> {
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(chunkBytes), 0, chunkBytes)
    return buffer.subarray(0, bytesRead)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return undefined
    throw error
  }
}

function readUtf8(bytes: Uint8Array): TextRead {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) }
  } catch {
    return { problem: 'it is not UTF-8' }
  }
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOENT') return 'no such file'
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied'
  if (code === 'EISDIR') return 'it is a folder'
  if (code === 'ENXIO') return 'it is not a file'
  if (code === 'ERR_INVALID_ARG_VALUE') return 'the file name is invalid'
  return typeof code === 'string' ? code : String(error)
}
