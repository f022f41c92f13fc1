import { open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { decodeLine, tapePlace, type SegmentPlace } from '../formats/index.js'
import { madeMeta, type EndRecord, type MetaRecord } from '../model/index.js'
import { whySilent } from './why-silent.js'

/** First lines are short, unless the command line is long. */
const headBytes = 65_536
const longestHead = 4 * 1024 * 1024
const tailBytes = 8_192

/** Metadata at the start and the end of a tape; the middle is not read. */
export interface TapeSummary {
  readonly path: string
  readonly sizeBytes: number
  /** Made from the first message when the tape has no meta line. */
  readonly meta: MetaRecord
  readonly place: SegmentPlace
  /** Name and version of the first client, when present at the start of the tape. */
  readonly client?: Peer
  /** Name and version of the server, likewise. */
  readonly server?: Peer
  /** Undefined while the tape is being written, or when it was cut off. */
  readonly end?: EndRecord
  /** Why the server never sent a message, where the tape tells. */
  readonly whySilent?: string
}

/** A program's own name and version. */
export interface Peer {
  readonly name: string
  readonly version: string
}

/**
 * The tapes in a folder by start time, oldest first; other files are ignored. A missing folder has none.
 *
 * @param summarize of one file
 */
export async function listTapes(
  folder: string,
  summarize: (path: string) => Promise<TapeSummary | undefined> = summarizeTape,
): Promise<TapeSummary[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const tapes: TapeSummary[] = []
  for (const name of names.filter((file) => /\.jsonl(?:\.[1-9]\d{0,3})?$/.test(file))) {
    const summary = await summarize(join(folder, name)).catch(() => undefined)
    if (summary) tapes.push(summary)
  }
  return tapes.toSorted(
    (a, b) => compare(a.meta.startedAt, b.meta.startedAt) || a.place.segment - b.place.segment,
  )
}

/** Undefined when the file does not begin like a tape. */
export async function summarizeTape(path: string): Promise<TapeSummary | undefined> {
  if (!(await stat(path)).isFile()) return undefined
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const read = async (from: number, length: number): Promise<string> => {
      const bytes = Buffer.alloc(Math.max(0, Math.min(length, size - from)))
      const { bytesRead } = await file.read(bytes, 0, bytes.length, from)
      return bytes.toString('utf8', 0, bytesRead)
    }
    let head = await read(0, headBytes)
    if (!head.includes('\n') && size > headBytes) head = await read(0, longestHead)
    const first = decodeLine(head.slice(0, indexOrEnd(head, head.indexOf('\n'))).replace(/^\ufeff/, ''))
    if (!('record' in first)) return undefined
    const { record } = first
    const meta = record.type === 'meta' ? record : record.type === 'message' ? madeMeta(record) : undefined
    if (!meta) return undefined
    const tail = await read(Math.max(0, size - tailBytes), tailBytes)
    const lines = tail.trimEnd().split('\n')
    const last = decodeLine(lines.at(-1) ?? '')
    const end = 'record' in last && last.record.type === 'end' ? last.record : undefined
    const why = end && whySilent(head, meta.wiretape?.url ?? null, end)
    return {
      path,
      sizeBytes: size,
      meta,
      place: tapePlace(path, meta),
      ...peersIn(head),
      ...(end && { end }),
      ...(why !== undefined && { whySilent: why }),
    }
  } finally {
    await file.close()
  }
}

/** Client and server identify themselves in the first messages. */
const introduction = 12

function peersIn(head: string): { client?: Peer; server?: Peer } {
  const peers: { client?: Peer; server?: Peer } = {}
  // The last of these lines may be incomplete.
  for (const line of head.split('\n', introduction + 1).slice(0, -1)) {
    // Cheaper than parsing each line.
    if (!line.includes('Info')) continue
    const found = decodeLine(line)
    if (!('record' in found) || found.record.type !== 'message') continue
    const { direction, parts } = found.record
    const side = direction === 'client_to_server' ? 'client' : 'server'
    for (const { envelope } of parts) if (envelope.peer) peers[side] ??= envelope.peer
    if (peers.client && peers.server) break
  }
  return peers
}

function indexOrEnd(text: string, index: number): number {
  return index === -1 ? text.length : index
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
