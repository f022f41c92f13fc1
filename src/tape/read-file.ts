import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
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

/** Bytes asked of the disk at a time. */
const chunkBytes = 1 << 18

/** A recording on disk and what it is. */
export interface RecordingFile {
  readonly path: string
  readonly format: Format & Required<Pick<Format, 'read'>>
  readonly sizeBytes: number
  /** What is wrong with the file that this one was made of. Who reads it says so. */
  readonly fault?: Diagnostic
  /** Of a file that was joined with others by name: `format` leaves out what concerns the file alone. */
  readonly part?: PartOf
  /** The bytes, as often as wanted. @param to stop before this offset @param from begin there, not at the start */
  bytes(to?: number, from?: number): AsyncIterable<Uint8Array>
}

/** A file on disk, whatever it holds. */
export type PlainFile = Omit<RecordingFile, 'format'> & {
  /** The first bytes, enough to tell what it is. */
  readonly head: Uint8Array
}

/**
 * Opens a file for reading.
 *
 * @throws WiretapeError `unreadable`, or `not-a-recording` when it is UTF-16; the message names the file
 */
export async function openFile(path: string): Promise<PlainFile> {
  const { head, sizeBytes } = await readHead(path)
  checkEncoding(path, head)
  return { path, head, sizeBytes, bytes: (to, from) => chunksOf(path, to, from) }
}

/**
 * Bytes of a file for half the effort of its `bytes`: a chunk is good until the next one is asked for.
 *
 * @param to stop before this offset; where the file ends at the latest
 */
export async function* lentBytes(path: string, to: number, from = 0): AsyncIterable<Uint8Array> {
  try {
    yield* lentChunks(path, from, to)
  } catch (cause) {
    throw cause instanceof WiretapeError ? cause : cannotRead(path, cause)
  }
}

/**
 * Finds out what a file is, by its content.
 *
 * @param formatId what it is, for a file that does not show it
 * @throws WiretapeError `unreadable` or `not-a-recording`; the message names the file
 */
export async function openRecording(path: string, formatId?: string): Promise<RecordingFile> {
  const { head, ...file } = await openFile(path)
  // Of some formats nothing at all is an empty recording.
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
 * As `openRecording`, with the other segments of a rotated recording, in their order.
 *
 * @throws WiretapeError as `openRecording`
 */
export async function openSegments(path: string): Promise<RecordingFile[]> {
  const { paths, isGuessed } = await wholeRecording(path)
  const files: RecordingFile[] = []
  for (const segment of paths) files.push(await openRecording(segment))
  return isGuessed ? asParts(files) : files
}

/** Files that one recording was cut into, none of which says that it is a part. */
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
        // What stands around one of the files is not what stands around the recording.
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

/** No reader of JSON takes UTF-16. Commands that read copies get them in UTF-8. */
function checkEncoding(path: string, head: Uint8Array): void {
  if (utf16Of(head) === undefined) return
  throw new WiretapeError('not-a-recording', `${path} is UTF-16: recordings are UTF-8`, {
    hint: 'convert it with iconv -f UTF-16 -t UTF-8',
  })
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
