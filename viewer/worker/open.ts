import {
  decodeLine,
  detectionBytes,
  encodeRecord,
  joinSegments,
  tapePlace,
  traceV1,
  utf16Fault,
  utf16Of,
  type Format,
  type SegmentPlace,
} from '../../src/formats/index.js'
import { WiretapeError, type Diagnostic } from '../../src/model/index.js'
import { furtherFormats } from '../patterns/loaded.js'
import type { FileName, Opening } from './protocol.js'
import { blobSource, chunksOf, growingSource, type Source } from './source.js'

/** A recording to read: its bytes, and its place among other segments. */
export interface Opened extends SegmentPlace {
  readonly name: string
  /** The original file, before unpacking and joining. */
  readonly file: FileName
  readonly format: string
  readonly source: Source
  /** The bytes of a tape from the start; other formats are converted while reading. */
  chunks(report: (problem: Diagnostic) => void): AsyncIterable<Uint8Array>
  readonly follows: boolean
}

/**
 * @param early fetched bytes are received even before they are read: browsers open few connections to one
 * server, and a recording that waits to be read would block the others
 * @throws WiretapeError when it is no recording, or cannot be fetched
 */
export async function openOne(opening: Opening, early = false): Promise<Opened> {
  const opened = await (opening.kind === 'file'
    ? openBlob(opening.name, opening.blob)
    : openUrl(opening, early))
  const path = opening.kind === 'url' ? opening.path : undefined
  return { ...opened, file: { name: opening.name, ...(path !== undefined && { path }) } }
}

type Unnamed = Omit<Opened, 'file'>

async function openBlob(name: string, blob: Blob): Promise<Unnamed> {
  const source = blobSource(blob)
  const head = await source.slice(0, detectionBytes)
  if (isGzip(head)) {
    const stream = blob.stream().pipeThrough(new DecompressionStream('gzip'))
    const plain = await new Response(stream).blob().catch((cause: unknown) => {
      throw new WiretapeError(
        'not-a-recording',
        `${name} is damaged: the gzip data is truncated or corrupt`,
        {
          cause,
        },
      )
    })
    return openBlob(name.replace(/\.gz$/i, ''), plain)
  }
  const encoding = utf16Of(head)
  if (encoding !== undefined) {
    const utf8 = blob
      .stream()
      .pipeThrough(new TextDecoderStream(encoding))
      .pipeThrough(new TextEncoderStream())
    const opened = await openBlob(name, await new Response(utf8).blob())
    return {
      ...opened,
      chunks(report) {
        report(utf16Fault)
        return opened.chunks(report)
      },
    }
  }
  const format = formatOf(name, head)
  if (format.id !== 'trace-v1') return converted(name, format, source)
  return {
    name,
    format: format.id,
    source,
    chunks: () => chunksOf(source),
    ...placeIn(name, head),
    follows: false,
  }
}

function isGzip(head: Uint8Array): boolean {
  return head[0] === 0x1f && head[1] === 0x8b
}

function formatOf(name: string, head: Uint8Array): Format {
  if (head.length === 0) throw new WiretapeError('not-a-recording', `${name} is empty`)
  // Tapes are the usual case, and need no other script.
  const format = traceV1.detect(head) === 1 ? traceV1 : furtherFormats().detectFormat(head)
  if (format?.read) return format
  throw new WiretapeError(
    'not-a-recording',
    `${name} is not a recording: its start matches no known format`,
    {
      hint: 'Tapes (.jsonl), session files (.json) and the other formats of `wiretape convert` can be opened.',
    },
  )
}

/** Other formats are converted to a tape while reading, so that rows can be found by position. */
function converted(name: string, format: Format, input: Source): Unnamed {
  const source = growingSource()
  async function* chunks(report: (problem: Diagnostic) => void): AsyncGenerator<Uint8Array> {
    const utf8 = new TextEncoder()
    let text = ''
    for await (const record of format.read!({ bytes: () => chunksOf(input) }, report)) {
      text += encodeRecord(record)
      if (text.length < 1 << 20) continue
      const chunk = utf8.encode(text)
      text = ''
      source.add(chunk)
      yield chunk
    }
    const chunk = utf8.encode(text)
    source.add(chunk)
    yield chunk
  }
  return { name, format: format.id, source, chunks, session: undefined, segment: 0, follows: false }
}

/** The session and segment of a tape, from its name and first line. */
function placeIn(name: string, head: Uint8Array): SegmentPlace {
  const lf = head.indexOf(0x0a)
  const line = decodeLine(new TextDecoder().decode(lf < 0 ? head : head.subarray(0, lf)))
  return tapePlace(name, 'record' in line ? line.record : undefined)
}

async function openUrl(opening: Opening & { kind: 'url' }, early: boolean): Promise<Unnamed> {
  const { name } = opening
  const response = await fetchTrace(opening)
  const total = Number(response.headers.get('content-length') ?? 0)
  const reader = response.body!.getReader()
  const first = await readAtLeast(reader, detectionBytes)
  if (isGzip(first) || utf16Of(first) !== undefined || formatOf(name, first).id !== 'trace-v1') {
    const blob = await restOf(first, reader)
    return openBlob(name, blob)
  }
  const growing = growingSource()
  const source: Source = {
    get sizeBytes() {
      return Math.max(total, growing.sizeBytes)
    },
    slice: (offset, sizeBytes) => growing.slice(offset, sizeBytes),
  }
  async function* arriving(): AsyncGenerator<Uint8Array> {
    let chunk: Uint8Array | undefined = first
    while (chunk) {
      growing.add(chunk)
      yield chunk
      const next = await reader.read().catch((cause: unknown) => {
        throw new WiretapeError('unreadable', `${name} was only partly downloaded`, {
          hint: 'The part received is shown. Reload to try again.',
          cause,
        })
      })
      chunk = next.value
    }
  }
  const chunks = early && opening.follow !== true ? readEarly(arriving(), growing) : arriving
  return {
    name,
    format: 'trace-v1',
    source,
    chunks,
    ...placeIn(name, first),
    follows: opening.follow === true,
  }
}

/** Receives all bytes early into storage that the browser keeps outside of memory; returns them on demand. */
function readEarly(
  arriving: AsyncIterable<Uint8Array>,
  growing: Source,
): () => AsyncGenerator<Uint8Array, void, undefined> {
  let came: () => void = () => undefined
  let isOver = false
  /** Bytes arrived after the last read. */
  let isMore = false
  const whole = (async () => {
    for await (const _ of arriving) {
      isMore = true
      came()
    }
  })().finally(() => {
    isOver = true
    came()
  })
  // The reader gets the error from `await whole`.
  whole.catch(() => undefined)
  return async function* chunks() {
    let at = 0
    for (;;) {
      isMore = false
      const wasOver = isOver
      const bytes = await growing.slice(at, 1 << 22)
      at += bytes.length
      if (bytes.length > 0) yield bytes
      else if (wasOver) break
      else if (!isMore && !isOver) await new Promise<void>((resolve) => (came = resolve))
    }
    await whole
  }
}

async function fetchTrace({ name, url, headers = {} }: Opening & { kind: 'url' }): Promise<Response> {
  let response: Response
  try {
    response = await fetch(url, { redirect: 'follow', referrerPolicy: 'no-referrer', headers })
  } catch (cause) {
    throw new WiretapeError('unreadable', `${name} could not be fetched`, {
      hint: 'The server is unreachable, redirects to another site, or does not allow this page to read the file: its response needs the header Access-Control-Allow-Origin. Or download the file and drop it here.',
      cause,
    })
  }
  if (response.ok && response.body) return response
  throw new WiretapeError(
    'unreadable',
    `${name} could not be fetched: the server responded with HTTP ${response.status}`,
    {
      hint:
        response.status === 404
          ? 'Check the URL and whether the file still exists.'
          : 'Download the file and drop it here.',
    },
  )
}

async function readAtLeast(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  size: number,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  while (length < size) {
    const { value, done } = await reader.read()
    if (done) break
    parts.push(value)
    length += value.length
    // A live tape may not grow for a long time.
    if (parts.length === 1 && value.includes(0x0a)) break
  }
  return joined(parts, length)
}

async function restOf(first: Uint8Array, reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Blob> {
  const growing = growingSource()
  growing.add(first)
  for (let next = await reader.read(); !next.done; next = await reader.read()) growing.add(next.value)
  return new Blob([(await growing.slice(0, growing.sizeBytes)) as Uint8Array<ArrayBuffer>])
}

function joined(parts: readonly Uint8Array[], length: number): Uint8Array {
  if (parts.length === 1) return parts[0]!
  const all = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

/** Segments of one session, read as one file. */
function joinOpened(parts: readonly Opened[]): Opened {
  const [first] = parts
  if (parts.length === 1) return first!
  const starts: number[] = []
  let size = 0
  for (const { source } of parts) {
    starts.push(size)
    // Plus one for the line feed that a file's last line may lack.
    size += source.sizeBytes + 1
  }
  const lf = Uint8Array.of(0x0a)
  return {
    ...first!,
    name: `${first!.name} and ${parts.length - 1} more`,
    source: {
      sizeBytes: size,
      slice(offset, sizeBytes) {
        const i = starts.findLastIndex((start) => start <= offset)
        return parts[i]!.source.slice(offset - starts[i]!, sizeBytes)
      },
    },
    async *chunks(report) {
      for (const part of parts) {
        yield* part.chunks(report)
        yield lf
      }
    },
  }
}

/** Joins the segments of each session, in their order. */
export function groupSegments(opened: readonly Opened[]): Opened[] {
  const places = new Map(opened.map((one) => [one, one.follows ? { ...one, session: undefined } : one]))
  return joinSegments(opened, (one) => places.get(one)!).map(joinOpened)
}
