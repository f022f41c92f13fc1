import { createCostTable, estimateTokens, estimator, type DefinitionCost } from '../../findings/index.js'
import { countOf, createStyle, escapeText, formatCount, pad, truncate } from '../../render/index.js'
import { countIn } from '../check/contract.js'
import { exitCode } from '../exit-codes.js'
import type { Io } from '../io.js'
import { observeRecordings } from '../observe-recordings.js'
import { recordingPaths } from '../recording-name.js'

export interface CostOptions {
  readonly max?: string
  readonly json?: boolean
}

export async function runCost(named: readonly string[], options: CostOptions, io: Io): Promise<number> {
  const files = await recordingPaths(named, io)
  const max = options.max === undefined ? Infinity : countIn('--max', options.max)
  const table = createCostTable()
  await observeRecordings(table.rule, files, io)
  const rows = table.rows()
  const total = estimateTokens(rows.reduce((sum, { characters }) => sum + characters, 0))
  if (options.json) await io.write(`${JSON.stringify(costJson(rows, total))}\n`, 'data')
  else await printTable(rows, total, io)
  return total > max ? exitCode.found : exitCode.done
}

function costJson(rows: readonly DefinitionCost[], total: number): object {
  return {
    version: 1,
    estimator,
    definitionTokens: total,
    rows: rows.map((row) => ({
      server: row.server,
      kind: row.kind,
      name: row.name,
      characters: row.characters,
      tokens: estimateTokens(row.characters),
      descriptionTokens: estimateTokens(row.description),
      schemaTokens: estimateTokens(row.schemas),
      calls: row.calls,
      resultCharacters: row.results,
      resultTokens: estimateTokens(row.results),
      largestResultTokens: estimateTokens(row.largest),
    })),
  }
}

async function printTable(rows: readonly DefinitionCost[], total: number, io: Io): Promise<void> {
  const style = createStyle(io.colours)
  const width = Math.min(40, Math.max(4, ...rows.map(({ name }) => escapeText(name).length)))
  const number = (value: number): string => formatCount(value).padStart(9)
  const head = `${'tokens'.padStart(9)}${'descr.'.padStart(9)}${'schemas'.padStart(9)}  ${pad('name', width)}  ${pad('kind', 8)}${'calls'.padStart(7)}${'results'.padStart(9)}${'largest'.padStart(9)}  server`
  await io.write(`${style.dim(head)}\n`)
  for (const row of rows) {
    const sizes = [row.characters, row.description, row.schemas]
      .map((size) => number(estimateTokens(size)))
      .join('')
    const results = [row.results, row.largest].map((size) => number(estimateTokens(size))).join('')
    const name = pad(truncate(escapeText(row.name), width), width)
    await io.write(
      `${sizes}  ${name}  ${pad(row.kind, 8)}${String(row.calls).padStart(7)}${results}  ${escapeText(row.server)}\n`,
    )
  }
  const never = rows.filter(({ calls, kind }) => calls === 0 && kind === 'tool').length
  await io.write(
    `\nabout ${formatCount(total)} tokens of definitions in each prompt (estimated: ${estimator})`,
  )
  await io.write(
    never === 0 ? '\n' : `; ${countOf(never, 'tool')} ${never === 1 ? 'was' : 'were'} never called\n`,
  )
}
