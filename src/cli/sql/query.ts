import { WiretapeError } from '../../model/index.js'
import type { Io } from '../io.js'
import type { ScopedRecording } from '../search/scope.js'
import { checkDuckDb, type Connection, type DuckDb, type Result } from './duckdb.js'
import { lockToFiles, runEngine } from './engine.js'
import type { RowFile } from './batch-folder.js'
import { IndexFiles } from './index-files.js'
import { RecordedText } from './recorded-text.js'
import { recordingSource, viewStatements } from './views.js'

/**
 * Runs one query over recordings. It sees only the views: no other file, no network, no extension.
 *
 * @param all every recording of the data folder; indexes of others are deleted
 * @throws WiretapeError `usage` if DuckDB refuses the SQL, `unreadable` if no recording can be read
 */
export async function runQuery(
  sql: string,
  recordings: readonly ScopedRecording[],
  all: readonly ScopedRecording[] | undefined,
  io: Io,
  take: (result: Result) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  checkDuckDb()
  const indexes = new IndexFiles(io)
  const texts = new RecordedText()
  const sweep = all ? indexes.sweep(all) : Promise.resolve()
  // Threads index while this one opens the engine.
  const indexing = sweep.then(() => indexesOf(sql, recordings, { indexes, texts }, io))
  // The engine may fail first.
  const settled = indexing.catch(() => undefined)
  try {
    await runEngine(
      sql,
      async (connection, duckdb) => {
        connection.registerScalarFunction(textFunction(duckdb, texts))
        await prepare(connection, await indexing)
      },
      take,
      signal,
    )
  } finally {
    await settled
    texts.close()
    await indexes.close()
  }
}

interface Indexed {
  readonly rows: readonly RowFile[]
  /** Undefined if the query does not read them: rules take several times as long as all other work. */
  readonly findings: readonly string[] | undefined
}

async function prepare(connection: Connection, { rows, findings }: Indexed): Promise<void> {
  await lockToFiles(connection, [
    ...rows.flatMap(({ messages, others }) => [messages, others]),
    ...(findings ?? []),
  ])
  for (const statement of viewStatements(recordingSource(rows), findings)) await connection.run(statement)
}

/**
 * Files of the indexes, which are made if needed.
 *
 * @throws WiretapeError `unreadable` if no recording can be read
 */
export async function indexesOf(
  sql: string,
  recordings: readonly ScopedRecording[],
  { indexes, texts }: { readonly indexes: IndexFiles; readonly texts: RecordedText },
  io: Pick<Io, 'complain'>,
): Promise<Indexed> {
  const complain = async (error: unknown): Promise<void> => {
    if (!(error instanceof WiretapeError) || recordings.length === 1) throw error
    await io.complain(error.message, error.hint)
  }
  const { files: rows, failures } = await indexes.rows(recordings)
  for (const { code, message, hint } of failures)
    await complain(new WiretapeError(code, message, hint === undefined ? {} : { hint }))
  const failed = new Set(failures.map(({ part }) => part))
  const findings = /\bfindings\b/i.test(sql) ? ([] as string[]) : undefined
  for (const recording of recordings) {
    const part = indexes.part(recording)
    if (failed.has(part)) continue
    texts.add(part, recording.paths)
    try {
      findings?.push(await indexes.findings(recording))
    } catch (error) {
      await complain(error)
    }
  }
  if (rows.length === 0)
    throw new WiretapeError('unreadable', 'no recordings to query', {
      hint: 'make one with wiretape record -- SERVER; list recordings with wiretape ls',
    })
  return { rows, findings }
}

/** `recorded_text(part, file, start, end)`: a piece of a tape, in bytes. */
export function textFunction(
  { DuckDBScalarFunction, VARCHAR, DOUBLE }: DuckDb,
  texts: RecordedText,
): unknown {
  return DuckDBScalarFunction.create({
    name: 'recorded_text',
    returnType: VARCHAR,
    parameterTypes: [VARCHAR, DOUBLE, DOUBLE, DOUBLE],
    mainFunction(info, input, output) {
      try {
        const parts = input.getColumnValues(0) as readonly (string | null)[]
        const [files, starts, ends] = [1, 2, 3].map((column) => input.getColumnValues(column) as number[])
        for (let i = 0; i < input.rowCount; i += 1) {
          const part = parts[i]
          const isText = typeof part === 'string' && typeof files![i] === 'number'
          output.setItem(i, isText ? texts.at(part, files![i]!, starts![i]!, ends![i]!) : null)
        }
        output.flush()
      } catch (error) {
        info.setError(error instanceof Error ? error.message : String(error))
      }
    },
  })
}
