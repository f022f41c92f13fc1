import { createHmac, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { registryFolderIn } from '../../capture/index.js'
import { attachTo, liveCaptures, type CaptureConnection, type LiveCapture } from '../../control/index.js'
import type { FoundMessage, ListedRecording, SearchFound, SqlAnswer } from '../../control-schema/index.js'
import { joinSegments } from '../../formats/index.js'
import { WiretapeError } from '../../model/index.js'
import {
  createTapeLister,
  readReason,
  segmentPath,
  summarizeTape,
  type TapeSummary,
} from '../../tape/index.js'
import type { Catalogue, RecordedServer, SavedCalls, UiRecorder } from '../../ui-server/index.js'
import { recordingsIn } from '../data-folder.js'
import { rowOf, rowsIn, type Row } from '../folder-rows.js'
import type { Io } from '../io.js'
import { captureIo } from '../mcp/captured-io.js'
import { recordingPaths } from '../recording-name.js'
import { runSearch } from '../run/search.js'
import { deleteRecording } from '../delete-recording.js'
import { originKeyIn } from '../keys.js'
import { isLive } from '../live.js'
import { sampleRecording } from '../viewer-folder.js'
import { createRecorder, recordedServer } from './recorded-server.js'
import { savedCallsIn } from './saved-calls.js'
import { scopeOf } from '../search/scope.js'
import type { OpenEngine } from '../sql/open-engine.js'
import { sqlAnswer } from './sql-answer.js'

/**
 * The recordings that `wiretape ui` serves: the named files and the tapes of the data folder.
 *
 * @param calls folder of saved calls. @default `calls` in the working folder
 * @throws WiretapeError if a named file cannot be read or the folder is none
 */
export async function createCatalogue(names: readonly string[], io: Io, calls?: string): Promise<Catalogue> {
  const saved = await savedCallsIn(calls, io)
  const found = await recordingPaths(names, io)
  const paths = found.map((path) => resolve(io.cwd, path))
  for (const [i, path] of paths.entries()) await checkReadable(path, names[i]!)
  return new FileCatalogue(paths, saved, io)
}

class FileCatalogue implements Catalogue {
  readonly #io: Io
  /** The named files. */
  readonly #paths: readonly string[]
  readonly saved: SavedCalls
  readonly rulesFolder: string
  readonly #folder: string
  readonly #registry: string
  readonly #idOf
  /** Files by recording id; all recordings ever listed can be requested. */
  readonly #known = new Map<string, readonly string[]>([['sample', [sampleRecording()]]])
  #engine: OpenEngine | undefined
  /** Pages ask every few seconds. */
  readonly #listTapes = createTapeLister()
  /** Why the servers of recordings never sent a message, by path. */
  #whySilent: ReadonlyMap<string, string> = new Map()

  constructor(paths: readonly string[], saved: SavedCalls, io: Io) {
    this.#io = io
    this.#paths = paths
    this.saved = saved
    this.rulesFolder = join(io.dataFolder, 'rules')
    this.#folder = recordingsIn(io.dataFolder)
    this.#registry = registryFolderIn(io.dataFolder)
    this.#idOf = idsOf(originKeyIn(io.dataFolder))
  }

  async recordings(): Promise<ListedRecording[]> {
    return (await this.#rows()).map((row) => this.#listed(row)).toReversed()
  }

  async given(): Promise<ListedRecording[]> {
    const captures = await liveCaptures(this.#registry)
    const tapes: TapeSummary[] = []
    const others: Row[] = []
    for (const path of this.#paths) {
      const tape = await summarizeTape(path).catch(() => undefined)
      if (tape) tapes.push(tape)
      else others.push(await fileRow(path))
    }
    const groups = joinSegments(tapes, ({ place }) => place)
    return [...groups.map((group) => rowOf(group, captures)), ...others].map((row) => this.#listed(row))
  }

  async pathOf(id: string, index: number): Promise<string | undefined> {
    return this.#known.get(id)?.[index]
  }

  async progressOf(path: string): Promise<{ live: boolean; next?: string }> {
    const tape = await summarizeTape(path).catch(() => undefined)
    if (!tape) return { live: false }
    const segment = (tape.meta.wiretape?.segment ?? 0) + 1
    const base = path.replace(/(\.\d+)?\.jsonl$/, '.jsonl')
    const next = segmentPath(base, segment)
    const rotated = tape.end?.wiretape?.rotated === true
    if (rotated && existsSync(next)) return { live: false, next }
    if (tape.end && !rotated) return { live: false }
    return { live: isLive(tape, await liveCaptures(this.#registry)) }
  }

  async search(filter: string): Promise<SearchFound> {
    const captured = captureIo(this.#io, this.#folder)
    // One extra match shows whether there are more.
    await runSearch([filter], { json: true, limit: mostFound + 1 }, captured.io)
    const { matches } = JSON.parse(captured.text()) as { matches: (FoundMessage & { files: string[] })[] }
    const found = matches
      .slice(0, mostFound)
      .map(({ files, label, sequence, timestamp, method, subject, snippet, match }) => ({
        id: this.#idOf(files),
        label,
        sequence,
        timestamp,
        method,
        subject,
        snippet,
        match,
      }))
    return { matches: found, isCut: matches.length > mostFound }
  }

  async remove(id: string): Promise<void> {
    const row = (await this.#rows()).find(({ files }) => this.#idOf(files) === id)
    if (!row)
      throw new WiretapeError('usage', 'this recording is not in the data folder', {
        hint: 'delete the file itself',
      })
    if (row.state === 'live') throw new WiretapeError('usage', 'this recording is still live')
    const why = await deleteRecording(row.files, this.#io.dataFolder)
    if (why !== undefined) throw new WiretapeError('unwritable', why)
    this.#known.delete(id)
  }

  async sql(query: string, signal: AbortSignal): Promise<SqlAnswer> {
    const { OpenEngine } = await import('../sql/open-engine.js')
    this.#engine ??= new OpenEngine()
    const recordings = await scopeOf([], this.#io, undefined, this.#listTapes)
    const named = new Map(
      recordings.map(({ name, paths }) => {
        const id = this.#idOf(paths)
        this.#known.set(id, paths)
        return [name, id]
      }),
    )
    let answer: Awaited<ReturnType<typeof sqlAnswer>> | undefined
    const take = async (result: Parameters<typeof sqlAnswer>[0]): Promise<void> => {
      answer = await sqlAnswer(result, (recording) => named.get(recording))
    }
    await this.#engine.query(query, recordings, this.#io, take, signal)
    return answer!
  }

  async server(id: string): Promise<RecordedServer | undefined> {
    const [path] = this.#known.get(id) ?? []
    return path === undefined ? undefined : recordedServer(path, this.#io)
  }

  recorder(server: RecordedServer, headers: readonly (readonly [name: string, value: string])[]): UiRecorder {
    return createRecorder(server, headers, (path) => this.#idOf([path]), this.#io)
  }

  async control(id: string): Promise<CaptureConnection | undefined> {
    const path = this.#known.get(id)?.at(-1)
    const capture = path === undefined ? undefined : await this.#captureOf(path)
    return capture && attachTo(capture, { role: 'screen', name: 'wiretape ui' }).catch(() => undefined)
  }

  async attend(path: string, changed: () => void): Promise<CaptureConnection | undefined> {
    const capture = await this.#captureOf(path)
    if (!capture) return undefined
    try {
      const connection = await attachTo(capture, { role: 'onlooker', name: 'wiretape ui' })
      await connection.send({ type: 'subscribe', from: 'now' })
      tellOf(connection, changed).catch(() => undefined)
      return connection
    } catch {
      // An older or just ending wiretape: use the file itself.
      return undefined
    }
  }

  /** The live capture that writes a file. */
  async #captureOf(path: string): Promise<LiveCapture | undefined> {
    const tape = await summarizeTape(path).catch(() => undefined)
    const captures = await liveCaptures(this.#registry)
    return tape && captures.find((one) => isLive(tape, [one]))
  }

  #rows(): Promise<Row[]> {
    return rowsIn(this.#folder, this.#io, this.#folder, async (listedFolder) => {
      const tapes = await this.#listTapes(listedFolder)
      this.#whySilent = new Map(
        tapes.flatMap((tape) => (tape.whySilent === undefined ? [] : [[tape.path, tape.whySilent]])),
      )
      return tapes
    })
  }

  #listed(row: Row): ListedRecording {
    const id = this.#idOf(row.files)
    this.#known.set(id, row.files)
    const { label, startedAt, sizeBytes, messages, errors, durationMs, state } = row
    const files = row.files.map((path) => basename(path))
    const why = row.files.length === 1 ? this.#whySilent.get(row.files[0]!) : undefined
    return {
      id,
      name: files[0]!,
      label,
      startedAt,
      sizeBytes,
      messages,
      errors,
      durationMs,
      state,
      files,
      server: row.server && `${row.server.name} ${row.server.version}`.trimEnd(),
      client: row.client && `${row.client.name} ${row.client.version}`.trimEnd(),
      path: row.files[0]!,
      ...(why !== undefined && { why }),
    }
  }
}

/** Matches per search sent to a page. */
const mostFound = 200

/**
 * Ids of recordings, from the paths of their files. They stay the same while the data folder has its key, so that
 * addresses of pages
 * are kept. The key keeps other programs from computing them from a path.
 */
function idsOf(key: string | undefined): (files: readonly string[]) => string {
  const secret = key ?? randomBytes(32)
  return (files) =>
    createHmac('sha256', secret)
      .update(`ui\0${files.join('\0')}`)
      .digest('base64url')
      .slice(0, 24)
}

/** Every event means a write; the end means that no more will follow. */
async function tellOf(connection: CaptureConnection, changed: () => void): Promise<void> {
  try {
    for await (const _ of connection.events) changed()
  } finally {
    changed()
  }
}

/** Other formats reveal their start only when read. */
async function fileRow(path: string): Promise<Row> {
  // A deleted one is still listed: opening it reports the error.
  const size = await stat(path).then(
    (info) => info.size,
    () => 0,
  )
  return {
    session: null,
    metadata: {},
    label: basename(path),
    startedAt: '',
    state: 'complete',
    client: null,
    server: null,
    messages: null,
    errors: null,
    durationMs: null,
    exitCode: null,
    sizeBytes: size,
    files: [path],
  }
}

async function checkReadable(path: string, name: string): Promise<void> {
  const info = await stat(path).catch((cause: unknown) => {
    throw new WiretapeError('unreadable', `cannot read ${name}: ${readReason(cause)}`, { cause })
  })
  if (!info.isFile())
    throw new WiretapeError('unreadable', `${name} is not a regular file`, { hint: 'name a recording' })
}
