import { createRequire } from 'node:module'
import { WiretapeError } from '../../model/index.js'

/** The used part of `@duckdb/node-api`, an optional package. */
export interface DuckDb {
  readonly DuckDBInstance: {
    create(path: string, options: Readonly<Record<string, string>>): Promise<Instance>
  }
  readonly DuckDBScalarFunction: {
    create(options: {
      readonly name: string
      readonly returnType: unknown
      readonly parameterTypes: readonly unknown[]
      readonly mainFunction: (info: FunctionInfo, input: InputChunk, output: OutputVector) => void
    }): unknown
  }
  readonly VARCHAR: unknown
  readonly DOUBLE: unknown
}

export interface Instance {
  connect(): Promise<Connection>
  closeSync(): void
}

interface FunctionInfo {
  setError(message: string): void
}

interface InputChunk {
  readonly rowCount: number
  getColumnValues(column: number): readonly unknown[]
}

interface OutputVector {
  setItem(row: number, value: string | null): void
  flush(): void
}

export interface Connection {
  run(sql: string): Promise<unknown>
  stream(sql: string): Promise<Result>
  /** Parses without running anything. */
  extractStatements(
    sql: string,
  ): Promise<{ readonly count: number; prepare(index: number): Promise<Prepared> }>
  registerScalarFunction(made: unknown): void
  /** Ends the running query. */
  interrupt(): void
  closeSync(): void
}

export interface Prepared {
  /** 1 for one that only reads. */
  readonly statementType: number
  stream(): Promise<Result>
  destroySync(): void
}

/** Rows of a query, read on demand. */
export interface Result {
  readonly columnCount: number
  columnName(column: number): string
  columnType(column: number): { readonly alias?: string; toString(): string }
  fetchChunk(): Promise<{ readonly rowCount: number; getRows(): unknown[][] } | null>
}

/** @throws WiretapeError `usage` if it is not installed */
export async function loadDuckDb(): Promise<DuckDb> {
  try {
    const loaded: unknown = await import('@duckdb/node-api')
    return loaded as DuckDb
  } catch (cause) {
    throw notInstalled(cause)
  }
}

/** Loads nothing. @throws WiretapeError `usage` if it is not installed */
export function checkDuckDb(): void {
  try {
    createRequire(import.meta.url).resolve('@duckdb/node-api')
  } catch (cause) {
    throw notInstalled(cause)
  }
}

function notInstalled(cause: unknown): WiretapeError {
  return new WiretapeError('usage', 'SQL needs DuckDB, which is not installed', {
    cause,
    hint: 'npm install @duckdb/node-api beside wiretape (with -g where wiretape was installed with -g)',
  })
}
