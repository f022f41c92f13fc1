import { csvCell } from '../../formats/index.js'
import type { SqlAnswer } from '../../control-schema/index.js'
import type { Result } from '../sql/duckdb.js'
import { columnsOf, isNumberColumn, valueText } from '../sql/values.js'

/** Rows sent to a page, which renders all of them. */
const mostRows = 2_000
/** Characters of all their values. */
const mostCharacters = 16 << 20

/**
 * The rows of a query for a page.
 *
 * @param idOf listed recording for a value of the column `recording`
 */
export async function sqlAnswer(
  result: Result,
  idOf: (recording: string) => string | undefined,
): Promise<SqlAnswer> {
  const names = columnsOf(result)
  const columns = names.map((name, i) => ({ name, isNumber: isNumberColumn(result, i) }))
  const [recording, seq] = [names.indexOf('recording'), names.indexOf('seq')]
  const rows: SqlAnswer['rows'][number][] = []
  const lines = [names.map((name) => csvCell(name)).join(',')]
  let characters = 0
  const answer = (isCut: boolean): SqlAnswer => ({ columns, rows, csv: `${lines.join('\r\n')}\r\n`, isCut })
  for (;;) {
    const chunk = await result.fetchChunk()
    if (!chunk || chunk.rowCount === 0) return answer(false)
    for (const row of chunk.getRows()) {
      const values = row.map((value) => (value === null || value === undefined ? null : valueText(value)))
      characters += values.reduce((sum, value) => sum + (value?.length ?? 0), 0)
      if (rows.length === mostRows || characters > mostCharacters) return answer(true)
      const id = recording < 0 ? undefined : idOf(values[recording] ?? '')
      const at = seq < 0 ? null : values[seq]
      const isMessage = id !== undefined && typeof at === 'string' && /^\d+$/.test(at)
      lines.push(values.map((value) => csvCell(value ?? undefined)).join(','))
      rows.push({ values, ...(isMessage && { message: { id, seq: Number(at) } }) })
    }
  }
}
