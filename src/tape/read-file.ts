import { closeSync, createReadStream, openSync, readSync, statSync } from 'node:fs'
import {
  detectFormat,
  detectionBytes,
  formats,
  utf16Of,
  type Format,
  isAboutWhole,
  isOfWhole,
  replaced,
  type PartOf,
} from '../formats/index.js'
import { WiretapeError, type Diagnostic } from '../model/index.js'
import { readReason } from './disk.js'
import { lentChunks } from './lent-chunks.js'
import { wholeRecording } from './segments-beside.js'

/** Bytes per read. */
const chunkBytes = 1 << 18

/** A recording on disk and its format. */
export interface RecordingFile {
  readonly path: string
  readonly format: Format & Required<Pick<Format, 'read'>>
  readonly sizeBytes: number
  /** Problem of the source that this file was made from. The reader reports it. */
  readonly fault?: Diagnostic
  /** For a file joined with others by name: `format` omits the data of the single file. */
  readonly part?: PartOf
  /** The bytes, any number of times. @param to stop before this offset @param from start at this offset */
  bytes(to?: number, from?: number): AsyncIterable<Uint8Array>
}

/** A file on disk, in any format. */
export type PlainFile = Omit<RecordingFile, 'format'> & {
  /** The first bytes, enough to detect the format. */
  readonly head: Uint8Array
}

/** The first bytes of a file, enough to detect its format, and its size. */
export type FileStart = Pick<PlainFile, 'head' | 'sizeBytes'>

/**
 * Opens a file for reading.
 *
 * @param start of the file, if it was read already
 * @throws WiretapeError `unreadable`, or `not-a-recording` when it is UTF-16; the message names the file
 */
export function openFile(path: string, start = readStart(path)): PlainFile {
  const { head, sizeBytes } = start
  checkEncoding(path, head)
  return { path, head, sizeBytes, bytes: (to, from) => chunksOf(path, to, from) }
}

/**
 * Bytes of a file, at half the cost of its `bytes`: a chunk is valid until the next one is requested.
 *
 * @param to stop before this offset; at the latest at the end of the file
 */
export async function* lentBytes(path: string, to: number, from = 0): AsyncIterable<Uint8Array> {
  try {
    yield* lentChunks(path, from, to)
  } catch (cause) {
    throw cause instanceof WiretapeError ? cause : cannotRead(path, cause)
  }
}

/**
 * Detects the format of a file by its content.
 *
 * @param formatId the format, for files without a detectable one
 * @throws WiretapeError `unreadable` or `not-a-recording`; the message names the file
 */
export function openRecording(path: string, formatId?: string): Promise<RecordingFile> {
  return new Promise((resolve) => resolve(recordingIn(openFile(path), formatId)))
}

/**
 * As `openRecording`, for a file that is open.
 *
 * @throws WiretapeError `not-a-recording`; the message names the file
 */
export function recordingIn({ head, ...file }: PlainFile, formatId?: string): RecordingFile {
  const { path } = file
  // In some formats, an empty file is an empty recording.
  if (head.length === 0 && formatId === undefined) {
    throw new WiretapeError('not-a-recording', `${path} is empty`)
  }
  const format = formatId === undefined ? detectFormat(head) : formats.find(({ id }) => id === formatId)
  if (!format?.read) {
    const readable = formats.filter((known) => known.read !== undefined).map(({ id }) => id)
    throw new WiretapeError(
      'not-a-recording',
      `${path} is not a recording: its start matches no known format`,
      {
        hint: `wiretape reads ${readable.join(', ')}`,
      },
    )
  }
  return { ...file, format: format as RecordingFile['format'] }
}

/**
 * As `openRecording`, with the other segments of a rotated recording, in order.
 *
 * @throws WiretapeError as `openRecording`
 */
export async function openSegments(path: string): Promise<RecordingFile[]> {
  const { paths, isGuessed } = await wholeRecording(path)
  const files: RecordingFile[] = []
  for (const segment of paths) files.push(await openRecording(segment))
  return isGuessed ? asParts(files) : files
}

/** Files that one recording was split into, none of which declares itself a part. */
export function asParts(files: readonly RecordingFile[]): RecordingFile[] {
  return files.map((file, i) => {
    const part = { isFirst: i === 0, isLast: i === files.length - 1 }
    const { format } = file
    return {
      ...file,
      part,
      format: {
        ...format,
        selects: false,
        // Data around a single file does not apply to the whole recording.
        readEnds: () => Promise.resolve(undefined),
        read: (input, report) =>
          replaced(
            format.read(input, (problem) => {
              if (isAboutWhole(problem.code, part)) report(problem)
            }),
            (record) => (isOfWhole(record, part) ? undefined : []),
            () => [],
          ),
      },
    }
  })
}

/** JSON readers do not accept UTF-16. Commands that read copies get them in UTF-8. */
function checkEncoding(path: string, head: Uint8Array): void {
  if (utf16Of(head) === undefined) return
  throw new WiretapeError('not-a-recording', `${path} is UTF-16: recordings are UTF-8`, {
    hint: 'convert it with iconv -f UTF-16 -t UTF-8',
  })
}

/**
 * Synchronous: a thousand small files take half the time, since waiting for another thread takes longer than reading.
 *
 * @throws WiretapeError `unreadable`; the message names the file
 */
export function readStart(path: string): FileStart {
  try {
    const info = statSync(path)
    if (info.isDirectory())
      throw new WiretapeError('unreadable', `${path} is a folder`, { hint: 'Name a file in it.' })
    // The file is read twice, and from an offset found in the first pass: a pipe supports neither.
    if (!info.isFile())
      throw new WiretapeError('unreadable', `${path} is not a regular file`, {
        hint: 'Name a file.',
      })
    const file = openSync(path, 'r')
    try {
      const head = new Uint8Array(Math.min(detectionBytes, info.size))
      let length = 0
      while (length < head.length) {
        const read = readSync(file, head, length, head.length - length, length)
        if (read === 0) break
        length += read
      }
      return { head: head.subarray(0, length), sizeBytes: info.size }
    } finally {
      closeSync(file)
    }
  } catch (cause) {
    throw cause instanceof WiretapeError ? cause : cannotRead(path, cause)
  }
}

async function* chunksOf(path: string, to: number | undefined, from = 0): AsyncIterable<Uint8Array> {
  if (to === 0) return
  try {
    const end = to === undefined ? {} : { end: to - 1 }
    for await (const chunk of createReadStream(path, { highWaterMark: chunkBytes, start: from, ...end }))
      yield chunk as Buffer
  } catch (cause) {
    throw cause instanceof WiretapeError ? cause : cannotRead(path, cause)
  }
}

function cannotRead(path: string, cause: unknown): WiretapeError {
  return new WiretapeError('unreadable', `cannot read ${path}: ${readReason(cause)}`, { cause })
}
