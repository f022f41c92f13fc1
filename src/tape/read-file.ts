import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { detectFormat, detectionBytes, formats, type Format } from '../formats/index.js'
import { WiretapeError } from '../model/index.js'
import { diskReason } from './disk.js'

/** Bytes asked of the disk at a time. */
const chunkBytes = 1 << 18

/** A recording on disk and what it is. */
export interface RecordingFile {
  readonly path: string
  readonly format: Format & Required<Pick<Format, 'read'>>
  readonly sizeBytes: number
  /** The bytes from the start, as often as wanted. @param to stop before this offset */
  bytes(to?: number): AsyncIterable<Uint8Array>
}

/**
 * Finds out what a file is, by its content.
 *
 * @param formatId what it is, for a file that does not show it
 * @throws WiretapeError `unreadable` or `not-a-recording`; the message names the file
 */
export async function openRecording(path: string, formatId?: string): Promise<RecordingFile> {
  const { head, sizeBytes } = await readHead(path)
  if (head.length === 0) throw new WiretapeError('not-a-recording', `${path} is empty`)
  const format = formatId === undefined ? detectFormat(head) : formats.find(({ id }) => id === formatId)
  if (!format?.read) {
    throw new WiretapeError('not-a-recording', `${path} is not a recording: its start fits no known format`, {
      hint: 'wiretape reads tapes (.jsonl) of trace v1 recorders and session files (.json)',
    })
  }
  return {
    path,
    format: format as RecordingFile['format'],
    sizeBytes,
    bytes: (to) => chunksOf(path, to),
  }
}

async function readHead(path: string): Promise<{ head: Uint8Array; sizeBytes: number }> {
  try {
    const info = await stat(path)
    if (info.isDirectory())
      throw new WiretapeError('unreadable', `${path} is a folder`, { hint: 'Name a file in it.' })
    // Read twice, and from where a look at the start found something: a pipe can do neither.
    if (!info.isFile())
      throw new WiretapeError('unreadable', `${path} is not a regular file`, {
        hint: 'Name a file.',
      })
    const file = await open(path)
    try {
      const head = new Uint8Array(Math.min(detectionBytes, info.size))
      let length = 0
      while (length < head.length) {
        const { bytesRead } = await file.read(head, length, head.length - length, length)
        if (bytesRead === 0) break
        length += bytesRead
      }
      return { head: head.subarray(0, length), sizeBytes: info.size }
    } finally {
      await file.close()
    }
  } catch (cause) {
    throw cause instanceof WiretapeError ? cause : cannotRead(path, cause)
  }
}

async function* chunksOf(path: string, to: number | undefined): AsyncIterable<Uint8Array> {
  if (to === 0) return
  try {
    const end = to === undefined ? {} : { end: to - 1 }
    for await (const chunk of createReadStream(path, { highWaterMark: chunkBytes, ...end }))
      yield chunk as Buffer
  } catch (cause) {
    throw cause instanceof WiretapeError ? cause : cannotRead(path, cause)
  }
}

function cannotRead(path: string, cause: unknown): WiretapeError {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  const why =
    code === 'ENOENT'
      ? 'no such file'
      : code === 'EACCES' || code === 'EPERM'
        ? 'permission denied'
        : diskReason(cause)
  return new WiretapeError('unreadable', `cannot read ${path}: ${why}`, { cause })
}
