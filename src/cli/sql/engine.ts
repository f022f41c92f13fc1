import { WiretapeError } from '../../model/index.js'
import { loadDuckDb, type Connection, type DuckDb, type Instance, type Result } from './duckdb.js'
import { literal } from './views.js'

/**
 * Runs one query in its own engine.
 *
 * @param prepare calls `lockToFiles`, then creates the views
 * @throws WiretapeError `usage` if DuckDB refuses the SQL
 */
export async function runEngine(
  sql: string,
  prepare: (connection: Connection, duckdb: DuckDb) => Promise<void>,
  take: (result: Result) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  const duckdb = await loadDuckDb()
  const instance = await newInstance(duckdb)
  try {
    await connected(instance, signal, async (connection) => {
      await prepare(connection, duckdb)
      signal?.throwIfAborted()
      await take(await connection.stream(sql))
    })
  } finally {
    instance.closeSync()
  }
}

/**
 * A connection for one query, which the signal interrupts.
 *
 * @throws WiretapeError `usage` if DuckDB refuses the SQL
 */
export async function connected<T>(
  instance: Instance,
  signal: AbortSignal | undefined,
  use: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = await instance.connect()
  const interrupt = (): void => connection.interrupt()
  signal?.addEventListener('abort', interrupt)
  try {
    return await use(connection)
  } catch (error) {
    return refused(error)
  } finally {
    signal?.removeEventListener('abort', interrupt)
    connection.closeSync()
  }
}

/** Without extensions and temporary files. */
export function newInstance({ DuckDBInstance }: DuckDb): Promise<Instance> {
  return DuckDBInstance.create(':memory:', {
    temp_directory: '',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  })
}

/** Restricts the engine to these files. */
export function lockToFiles(connection: Connection, files: readonly string[]): Promise<void> {
  return lockEngine(connection, `allowed_paths = [${files.map(literal).join(', ')}]`)
}

/** Restricts the engine for good. @param allowed setting of the files it may read */
export async function lockEngine(connection: Connection, allowed: string): Promise<void> {
  await connection.run(`set ${allowed}`)
  await connection.run('set enable_external_access = false')
  await connection.run('set lock_configuration = true')
}

/** DuckDB's error as one line and a hint. */
function refused(error: unknown): never {
  if (error instanceof WiretapeError || !(error instanceof Error)) throw error
  const [first = '', ...rest] = error.message.split('\n').filter((line) => /[^\s^]/.test(line))
  const hint = first.includes('Malformed JSON')
    ? "a payload is not valid JSON: try(payload->>'$.member') is null there"
    : rest.map((line) => line.trim()).join(' · ')
  throw new WiretapeError('usage', `the query failed: ${first}`, {
    cause: error,
    ...(hint !== '' && { hint }),
  })
}
