import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import type { Io } from '../../../src/cli/io.js'
import { scopeOf } from '../../../src/cli/search/scope.js'
import { OpenEngine } from '../../../src/cli/sql/open-engine.js'
import { tapeOf } from '../collect/collected.js'

const found = vi.hoisted(() => ({ engines: 0, views: 0 }))

// An engine whose first instance fails for good.
vi.mock('../../../src/cli/sql/duckdb.js', () => ({
  loadDuckDb: async () => ({
    DuckDBScalarFunction: { create: () => undefined },
    DuckDBInstance: {
      async create() {
        const number = (found.engines += 1)
        const prepared = { statementType: 1, stream: async () => ({}), destroySync: () => undefined }
        const connection = {
          async run(sql: string) {
            if (sql.trim().startsWith('create')) found.views += 1
          },
          async extractStatements() {
            if (number === 1)
              throw new Error(
                'FATAL Error: Failed: database has been invalidated because of a previous fatal error',
              )
            return { count: 1, prepare: async () => prepared }
          },
          registerScalarFunction: () => undefined,
          interrupt: () => undefined,
          closeSync: () => undefined,
        }
        return { connect: async () => connection, closeSync: () => undefined }
      },
    },
  }),
}))

it('an engine that failed for good is replaced, with its views', async () => {
  const dataFolder = mkdtempSync(join(tmpdir(), 'wiretape-engine-test-'))
  mkdirSync(join(dataFolder, 'recordings'))
  writeFileSync(join(dataFolder, 'recordings', 'shop.jsonl'), tapeOf(1))
  const io = { cwd: '/', dataFolder } as Io
  try {
    const engine = new OpenEngine()
    const all = await scopeOf([], io)
    const query = (): Promise<void> => engine.query('select 1', all, io, async () => undefined)
    await expect(query()).rejects.toThrow('invalidated')
    const { views } = found
    await query()
    await query()
    expect(found).toMatchObject({ engines: 2, views: 2 * views })
  } finally {
    rmSync(dataFolder, { recursive: true, force: true })
  }
})
