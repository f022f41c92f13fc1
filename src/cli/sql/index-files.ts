import { createHash } from 'node:crypto'
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import os from 'node:os'
import { basename, dirname, join } from 'node:path'
import { createFindings, rules } from '../../findings/index.js'
import { loadRecordings, type LoadedRecording } from '../recordings.js'
import { replaceFile } from '../../tape/index.js'
import { recordingsIn } from '../data-folder.js'
import type { SearchFolders } from '../io.js'
import type { ScopedRecording } from '../search/scope.js'
import { createSpools, type Spools } from '../spools.js'
import { readVersion } from '../version.js'
import { indexFolderIn, indexKey } from './removed-indexes.js'
import { RecordingTable } from './recording-table.js'
import { RowColumns } from './row-columns.js'

/** Incremented when the columns of an index change. */
const layout = 3

/**
 * Indexes of recordings, made if missing or outdated. Those of the data folder's recordings are kept; `close` deletes the
 * others.
 */
export class IndexFiles {
  readonly #io: SearchFolders
  readonly #spools: Spools = createSpools()
  readonly #names = new Map<string, Promise<ReadonlyMap<string, readonly string[]>>>()
  #private: string | undefined

  constructor(io: SearchFolders) {
    this.#io = io
  }

  /** Path of the index of rows. @throws WiretapeError if the recording cannot be read */
  rows(recording: ScopedRecording): Promise<string> {
    return this.#made(recording, `rows${layout}`, async (part) => {
      let columns: RowColumns | undefined
      const { close } = await loadRecordings(recording.paths, this.#io.cwd, (fold) => {
        columns = new RowColumns(fold, recording.name, recording.paths)
        return columns
      })
      await close()
      const table = new RecordingTable()
      table.add(columns!, recording.name, part)
      return table.bytes()
    })
  }

  /** Path of the index of findings: one JSON line per finding. */
  findings(recording: ScopedRecording): Promise<string> {
    return this.#made(recording, `findings${layout}-${readVersion()}`, async () => {
      const engine = createFindings(rules)
      let found: ReturnType<typeof engine.begin> | undefined
      const { recordings, close } = await loadRecordings(recording.paths, this.#io.cwd, (fold) => {
        const findings = engine.begin(fold)
        found = findings
        return (record, rows) => findings.take(record, rows)
      })
      await close()
      found!.finish()
      return Buffer.from(findingLines(recording.name, recordings[0]!, found!.found))
    })
  }

  async close(): Promise<void> {
    await this.#spools.close()
  }

  /** Deletes indexes of deleted recordings. @param recordings all of the data folder */
  async sweep(recordings: readonly ScopedRecording[]): Promise<void> {
    const folder = indexFolderIn(this.#io.dataFolder)
    const known = new Set(recordings.map(({ paths }) => indexKey(paths[0]!)))
    for (const name of await readdir(folder).catch(() => []))
      if (!known.has(partsOf(name)[0]!)) await rm(join(folder, name), { force: true })
  }

  async #made(
    recording: ScopedRecording,
    kind: string,
    make: (part: string) => Promise<Uint8Array>,
  ): Promise<string> {
    const isKept = dirname(recording.paths[0]!) === recordingsIn(this.#io.dataFolder)
    const folder = isKept ? indexFolderIn(this.#io.dataFolder) : await this.#privateFolder()
    const part = partOf(recording)
    const [before, state] = part.split('.') as [string, string]
    const path = join(folder, `${part}.${kind}`)
    if (isWhole(path, kind)) return path
    const bytes = await make(part)
    // Lines written in the meantime are included; only the next check detects them.
    await replaceFile(path, bytes)
    for (const name of (await this.#namesIn(folder)).get(before) ?? [])
      if (partsOf(name)[1] !== state) await removeUnused(join(folder, name))
    return path
  }

  /** Files of the folder by recording, read once: later ones are of this run. */
  #namesIn(folder: string): Promise<ReadonlyMap<string, readonly string[]>> {
    let names = this.#names.get(folder)
    if (names === undefined) this.#names.set(folder, (names = namesByKey(folder)))
    return names
  }

  async #privateFolder(): Promise<string> {
    if (this.#private === undefined) {
      this.#private = await mkdtemp(join(os.tmpdir(), 'wiretape-sql-'))
      this.#spools.add(this.#private)
    }
    return this.#private
  }
}

/** Key and state of an index, also of one that is being written: its temporary name starts with a dot. */
function partsOf(name: string): string[] {
  return name.replace(/^\./, '').split('.')
}

async function namesByKey(folder: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const names = new Map<string, string[]>()
  for (const name of await readdir(folder)) {
    const key = partsOf(name)[0]!
    const others = names.get(key)
    if (others) others.push(name)
    else names.set(key, [name])
  }
  return names
}

/** Whether an index exists and is not truncated. A truncated one, which would make all recordings unreadable, is remade. */
function isWhole(path: string, kind: string): boolean {
  const size = statSync(path, { throwIfNoEntry: false })?.size
  if (size === undefined || !kind.startsWith('rows')) return size !== undefined
  const file = openSync(path, 'r')
  try {
    const end = Buffer.alloc(magic.length)
    return size > end.length && readSync(file, end, 0, end.length, size - end.length) > 0 && end.equals(magic)
  } finally {
    closeSync(file)
  }
}
/** Last bytes of a Parquet file. */
const magic = Buffer.from('PAR1')

/** Deletes an outdated index of a recording, unless another query may be about to open it. */
async function removeUnused(path: string): Promise<void> {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found && Date.now() - found.mtimeMs > openedWithinMs) await rm(path, { force: true })
}
const openedWithinMs = 60_000

/** The part of an index of rows: identifies the recording and its state. */
export function partIn(path: string): string {
  return basename(path).split('.').slice(0, 2).join('.')
}

function partOf(recording: ScopedRecording): string {
  return `${indexKey(recording.paths[0]!)}.${stateOf(recording)}`
}

/** Changes when a file of the recording is written or replaced. */
function stateOf({ paths, name }: ScopedRecording): string {
  const hash = createHash('sha256').update(name)
  for (const path of paths) {
    const found = statSync(path, { throwIfNoEntry: false })
    hash.update(`\0${path}\0${found?.size}\0${found?.mtimeMs}\0${found?.ctimeMs}\0${found?.ino}`)
  }
  return hash.digest('hex').slice(0, 16)
}

function findingLines(
  name: string,
  { fold }: LoadedRecording,
  findings: ReturnType<ReturnType<typeof createFindings>['begin']>['found'],
): string {
  const { entries, sessions } = fold
  const server = sessions.at(-1)?.server
  return findings
    .map(({ rule, level, message, rows, server: said, tool, at }) => {
      const seqs = rows.map((row) => entries.seq(row)).filter((seq) => seq >= 0)
      return `${JSON.stringify({
        recording: name,
        server: said ?? (server && `${server.name} ${server.version}`.trimEnd()),
        rule: rule.id,
        pack: rule.pack,
        level,
        certainty: rule.certainty,
        message,
        tool,
        place: at,
        seq: seqs[0],
        seqs,
      })}\n`
    })
    .join('')
}
