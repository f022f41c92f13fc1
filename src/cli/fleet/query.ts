import { openStore } from '../../ship/index.js'
import { WiretapeError } from '../../model/index.js'
import type { DuckDb, Result } from '../sql/duckdb.js'
import { lockToFiles, runEngine } from '../sql/engine.js'
import { viewStatements } from '../sql/views.js'
import { fleetSource } from './fleet-views.js'
import { SegmentTexts } from './segment-texts.js'
import { indexFiles, type QueryIo } from './store-index.js'

/**
 * Runs one query over the index of a store. It sees only the views, like a query over recordings.
 *
 * @param sinceMs skips earlier days
 * @throws WiretapeError of the store, and `usage` for SQL that DuckDB refuses
 */
export async function runFleetQuery(
  sql: string,
  at: string,
  sinceMs: number | undefined,
  io: QueryIo,
  take: (result: Result) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  if (/\bfindings\b/i.test(sql))
    throw new WiretapeError('usage', 'the index of a store has no findings', {
      hint: 'wiretape inspect --at STORE HASH shows the findings of a segment',
    })
  const texts = new SegmentTexts(at)
  const store = await openStore(at, process.env)
  try {
    const sinceDay = sinceMs === undefined ? undefined : new Date(sinceMs).toISOString().slice(0, 10)
    const files = await indexFiles(store, io, sinceDay)
    await runEngine(
      sql,
      async (connection, duckdb) => {
        connection.registerScalarFunction(textFunction(duckdb, texts))
        await lockToFiles(connection, [...files.rows, ...files.sessions])
        for (const statement of viewStatements(fleetSource(files), undefined)) await connection.run(statement)
      },
      take,
      signal,
    )
  } finally {
    await texts.close()
    await store.close()
  }
}

/** `segment_text(hash, start, end)`: a piece of a segment, in bytes. */
function textFunction({ DuckDBScalarFunction, VARCHAR, DOUBLE }: DuckDb, texts: SegmentTexts): unknown {
  return DuckDBScalarFunction.create({
    name: 'segment_text',
    returnType: VARCHAR,
    parameterTypes: [VARCHAR, DOUBLE, DOUBLE],
    mainFunction(info, input, output) {
      try {
        const segments = input.getColumnValues(0) as readonly (string | null)[]
        const [starts, ends] = [1, 2].map((column) => input.getColumnValues(column) as (number | null)[])
        for (let i = 0; i < input.rowCount; i += 1) {
          const [segment, start, end] = [segments[i], starts![i], ends![i]]
          const isText = typeof segment === 'string' && typeof start === 'number' && typeof end === 'number'
          output.setItem(i, isText ? texts.at(segment, start, end) : null)
        }
        output.flush()
      } catch (error) {
        info.setError(error instanceof Error ? error.message : String(error))
      }
    },
  })
}
