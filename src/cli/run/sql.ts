import { WiretapeError } from '../../model/index.js'
import { countOf, createStyle, escapeText, truncate } from '../../render/index.js'
import { exitCode } from '../exit-codes.js'
import type { Io } from '../io.js'
import { scopeOf, sinceOption } from '../search/scope.js'
import type { Result } from '../sql/duckdb.js'
import { runQuery } from '../sql/query.js'
import { columnsOf, isNumberColumn, rowsJson, valueText } from '../sql/values.js'
import { tableText } from '../table.js'

export interface SqlOptions {
  readonly in?: readonly string[]
  readonly since?: string
  readonly at?: string
  readonly json?: boolean
  readonly jsonl?: boolean
}

/** Rows of a table for people. All of them determine its column widths. */
const mostRows = 2_000

/** Longer cells of a table are truncated. */
const mostCells = 80

export async function runSql(sql: string, options: SqlOptions, io: Io): Promise<number> {
  const named = options.in ?? []
  const sinceMs = options.since === undefined ? undefined : sinceOption(options.since)
  const print = options.json || options.jsonl ? printJson : printTable
  const take = (result: Result): Promise<void> => print(result, options, io)
  if (options.at !== undefined) {
    if (named.length > 0)
      throw new WiretapeError('usage', '--in and --at cannot be combined', { hint: 'use one of them' })
    const { runFleetQuery } = await import('../fleet/query.js')
    await runFleetQuery(sql, options.at, sinceMs, io, take)
    return exitCode.done
  }
  const recordings = await scopeOf(named, io, sinceMs)
  // The next query over all recordings removes indexes of recordings that were deleted by hand.
  const all = named.length === 0 && sinceMs === undefined ? recordings : undefined
  await runQuery(sql, recordings, all, io, take)
  return exitCode.done
}

/** An array of objects, or one line each. */
async function printJson(result: Result, { jsonl }: SqlOptions, io: Io): Promise<void> {
  let count = 0
  if (!jsonl) await io.write('[', 'data')
  for await (const line of rowsJson(result)) {
    count += 1
    if (!(await io.write(jsonl ? `${line}\n` : `${count > 1 ? ',' : ''}\n${line}`, 'data'))) return
  }
  if (!jsonl) await io.write(`${count > 0 ? '\n' : ''}]\n`, 'data')
}

async function printTable(result: Result, _: SqlOptions, io: Io): Promise<void> {
  const columns = columnsOf(result)
  const isNumber = columns.map((_name, i) => isNumberColumn(result, i))
  const texts: string[][] = columns.map(() => [])
  let count = 0
  for (;;) {
    const chunk = await result.fetchChunk()
    if (!chunk || chunk.rowCount === 0) break
    for (const row of chunk.getRows()) {
      count += 1
      if (count > mostRows) continue
      row.forEach((value, i) => texts[i]!.push(shown(valueText(value))))
    }
  }
  const style = createStyle(io.colours)
  const table = tableText(
    columns.map((name, i) => ({
      name: shown(name),
      texts: texts[i]!,
      side: isNumber[i] ? 'left' : 'right',
    })),
    { style, columns: undefined },
  )
  const more = count > mostRows ? `; the first ${mostRows} are shown, --json prints all` : ''
  await io.write(`${table}\n${style.dim(`${countOf(count, 'row')}${more}`)}\n`)
}

function shown(text: string): string {
  return truncate(escapeText(text.slice(0, 400)), mostCells)
}
