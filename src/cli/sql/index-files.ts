import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import os from 'node:os'
import { dirname, join } from 'node:path'
import { createFindings, rules } from '../../findings/index.js'
import { loadRecordings, type LoadedRecording } from '../recordings.js'
import { replaceFile } from '../../tape/index.js'
import { recordingsIn } from '../data-folder.js'
import type { SearchFolders } from '../io.js'
import type { ScopedRecording } from '../search/scope.js'
import { createSpools, type Spools } from '../spools.js'
import { readVersion } from '../version.js'
import type { BatchFailure } from './batch.js'
import { BatchFolder, type RowFile } from './batch-folder.js'
import { indexFolderIn, indexKey } from './removed-indexes.js'

/** Incremented when the members of a finding change. */
const findingsLayout = 3

/**
 * Indexes of recordings, made if missing or outdated. Those of the data folder's recordings are kept; `close` deletes the
 * others.
 */
export class IndexFiles {
  readonly #io: SearchFolders
  readonly #spools: Spools = createSpools()
  /** Checked once: a recording that grows meanwhile is indexed again by the next query. */
  readonly #parts = new Map<ScopedRecording, string>()
  readonly #kept: BatchFolder
  #private: string | undefined

  constructor(io: SearchFolders) {
    this.#io = io
    this.#kept = new BatchFolder(indexFolderIn(io.dataFolder))
  }

  /** Identifies a recording and its state. */
  part(recording: ScopedRecording): string {
    let part = this.#parts.get(recording)
    if (part === undefined) {
      part = `${indexKey(recording.paths[0]!)}.${stateOf(recording)}`
      this.#parts.set(recording, part)
    }
    return part
  }

  /** Files with the rows of recordings. @returns failures: those that cannot be read */
  async rows(
    recordings: readonly ScopedRecording[],
  ): Promise<{ readonly files: readonly RowFile[]; readonly failures: readonly BatchFailure[] }> {
    const files: RowFile[] = []
    const failures: BatchFailure[] = []
    for (const isKept of [true, false]) {
      const own = recordings.filter((recording) => this.#isKept(recording) === isKept)
      if (own.length === 0) continue
      const folder = isKept ? this.#kept : new BatchFolder(await this.#privateFolder())
      const indexed = own.map((recording) => ({
        ...recording,
        part: this.part(recording),
        // Listing a folder joins the segments of its recordings.
        areAll: recording.meta !== undefined,
      }))
      const found = await folder.files(indexed, this.#io.cwd)
      files.push(...found.files)
      failures.push(...found.failures)
    }
    return { files, failures }
  }

  /** Path of the index of findings: one JSON line per finding. @throws WiretapeError if the recording cannot be read */
  async findings(recording: ScopedRecording): Promise<string> {
    const folder = this.#isKept(recording) ? indexFolderIn(this.#io.dataFolder) : await this.#privateFolder()
    const path = join(folder, `${this.part(recording)}.findings${findingsLayout}-${readVersion()}`)
    if (statSync(path, { throwIfNoEntry: false })) return path
    const engine = createFindings(rules)
    let found: ReturnType<typeof engine.begin> | undefined
    const { recordings, close } = await loadRecordings(recording.paths, this.#io.cwd, (fold) => {
      const findings = engine.begin(fold)
      found = findings
      return (record, rows) => findings.take(record, rows)
    })
    await close()
    found!.finish()
    await replaceFile(path, findingLines(recording.name, recordings[0]!, found!.found))
    return path
  }

  async close(): Promise<void> {
    await this.#spools.close()
  }

  /** Deletes indexes of deleted recordings, and outdated ones. @param recordings all of the data folder */
  async sweep(recordings: readonly ScopedRecording[]): Promise<void> {
    const folder = indexFolderIn(this.#io.dataFolder)
    const current = new Set(recordings.map((recording) => this.part(recording)))
    const known = new Set(recordings.map(({ paths }) => indexKey(paths[0]!)))
    await this.#kept.sweep(current)
    for (const name of await readdir(folder).catch(() => [])) {
      const [key = '', state = '', kind = ''] = name.replace(/^\./, '').split('.')
      if (!kind.startsWith('findings') && !kind.startsWith('dead')) continue
      if (!known.has(key)) await rm(join(folder, name), { force: true })
      else if (!name.startsWith('.') && !current.has(`${key}.${state}`))
        await removeUnused(join(folder, name))
    }
  }

  #isKept({ paths }: ScopedRecording): boolean {
    return dirname(paths[0]!) === recordingsIn(this.#io.dataFolder)
  }

  async #privateFolder(): Promise<string> {
    if (this.#private === undefined) {
      this.#private = await mkdtemp(join(os.tmpdir(), 'wiretape-sql-'))
      this.#spools.add(this.#private)
    }
    return this.#private
  }
}

/** Deletes an outdated index, unless another query may be about to open it. */
async function removeUnused(path: string): Promise<void> {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found && Date.now() - found.mtimeMs > openedWithinMs) await rm(path, { force: true })
}
const openedWithinMs = 60_000

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
