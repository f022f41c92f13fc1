import { mkdir } from 'node:fs/promises'
import type { Io } from '../io.js'
import type { ScopedRecording } from '../search/scope.js'
import { loadDuckDb, type Connection, type Instance, type Prepared, type Result } from './duckdb.js'
import { connected, lockEngine, newInstance } from './engine.js'
import { IndexFiles } from './index-files.js'
import { indexesOf, runQuery, textFunction } from './query.js'
import { RecordedText } from './recorded-text.js'
import { indexFolderIn } from './removed-indexes.js'
import { findingsStatement, literal, recordingSource, viewStatements } from './views.js'

/** DuckDB's number for a statement that only reads. */
const selects = 1

interface Opened {
  readonly instance: Instance
  /** For the views. */
  readonly connection: Connection
  /** Files of the views, once they are made. */
  rows: string
  findings: string
}

/**
 * An engine for queries over all recordings that stays open with its views, for servers. Before each query, it indexes what is new
 * and replaces views whose files changed.
 */
export class OpenEngine {
  readonly #texts = new RecordedText()
  #opened: Promise<Opened> | undefined
  /** Ends when the views are up to date. */
  #refreshed: Promise<unknown> = Promise.resolve()
  #running = 0

  /**
   * Like `runQuery`, over all recordings of the data folder.
   *
   * @throws WiretapeError like `runQuery`
   */
  async query(
    sql: string,
    all: readonly ScopedRecording[],
    io: Io,
    take: (result: Result) => Promise<void>,
    signal?: AbortSignal,
  ): Promise<void> {
    const opening = this.#open(io)
    const opened = await opening
    let isDone: boolean
    try {
      const refreshed = this.#refreshed.then(() => this.#refresh(sql, all, opened, io))
      // A failure is that of this query only.
      this.#refreshed = refreshed.catch(() => undefined)
      await refreshed
      this.#running += 1
      try {
        isDone = await this.#select(sql, opened.instance, take, signal)
      } finally {
        this.#running -= 1
        if (this.#running === 0) this.#texts.close()
      }
    } catch (error) {
      if (isFatal(error) && this.#opened === opening) this.#opened = undefined
      throw error
    }
    // Statements that make something need an engine of their own.
    if (!isDone) await runQuery(sql, all, undefined, io, take, signal)
  }

  /** Returns false without running anything if it does more than read. */
  async #select(
    sql: string,
    instance: Instance,
    take: (result: Result) => Promise<void>,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    signal?.throwIfAborted()
    return connected(instance, signal, async (connection) => {
      let prepared: Prepared | undefined
      try {
        const statements = await connection.extractStatements(sql)
        if (statements.count !== 1) return false
        prepared = await statements.prepare(0)
        if (prepared.statementType !== selects) return false
        signal?.throwIfAborted()
        await take(await prepared.stream())
        return true
      } finally {
        prepared?.destroySync()
      }
    })
  }

  #open(io: Io): Promise<Opened> {
    this.#opened ??= this.#start(io)
    // A package that is missing now may be installed later.
    this.#opened.catch(() => (this.#opened = undefined))
    return this.#opened
  }

  async #start(io: Io): Promise<Opened> {
    const duckdb = await loadDuckDb()
    const folder = indexFolderIn(io.dataFolder)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const instance = await newInstance(duckdb)
    const connection = await instance.connect()
    connection.registerScalarFunction(textFunction(duckdb, this.#texts))
    await connection.run('set parquet_metadata_cache = true')
    // Its files are those of the views; statements that write never reach this engine.
    await lockEngine(connection, `allowed_directories = [${literal(folder)}]`)
    return { instance, connection, rows: '', findings: '' }
  }

  async #refresh(sql: string, all: readonly ScopedRecording[], opened: Opened, io: Io): Promise<void> {
    const { connection } = opened
    const indexes = new IndexFiles(io)
    try {
      await indexes.sweep(all)
      if (this.#running === 0) this.#texts.clear()
      const { rows, findings } = await indexesOf(sql, all, { indexes, texts: this.#texts }, io)
      const names = JSON.stringify(rows)
      if (names !== opened.rows) {
        opened.rows = ''
        for (const statement of viewStatements(recordingSource(rows), undefined))
          await connection.run(statement)
        opened.rows = names
      }
      if (!findings || findings.join('\0') === opened.findings) return
      await connection.run(findingsStatement(findings))
      opened.findings = findings.join('\0')
    } finally {
      await indexes.close()
    }
  }
}

/** After a fatal error, DuckDB refuses all queries of the instance. */
function isFatal(error: unknown): boolean {
  return error instanceof Error && /FATAL Error|database has been invalidated/.test(error.message)
}
