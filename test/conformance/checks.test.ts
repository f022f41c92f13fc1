import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { differences, readChecks } from './checks.mjs'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'wiretape-checks-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function leave(run: string, checks: readonly object[]): ReturnType<typeof readChecks> {
  const results = join(folder, run, 'server-ping-2026-11-21T09-29-35-460Z')
  mkdirSync(results, { recursive: true })
  writeFileSync(join(results, 'checks.json'), JSON.stringify(checks))
  return readChecks(join(folder, run))
}

const passed = { id: 'ping', name: 'Ping', status: 'SUCCESS' }

describe('the comparison of two runs of the conformance suite', () => {
  it('finds nothing where every check had the same outcome, at any URL', () => {
    const failed = (port: number): object => ({
      ...passed,
      status: 'FAILURE',
      errorMessage: `No answer from http://127.0.0.1:${port}/mcp`,
    })
    expect(differences(leave('a', [passed, failed(1234)]), leave('b', [passed, failed(77)]))).toEqual([])
  })

  it('reports a check with another outcome, with both outcomes', () => {
    const failed = { ...passed, status: 'FAILURE', errorMessage: 'No answer' }
    expect(differences(leave('a', [passed]), leave('b', [failed]))).toEqual([
      'ping: ping (Ping)\n    direct:  SUCCESS\n    through: FAILURE (No answer)',
    ])
  })

  it('reports a check that was made on one side only, also when others have its name', () => {
    const [only] = differences(leave('a', [passed, passed]), leave('b', [passed]))
    expect(only).toBe('ping: ping (Ping) #2\n    direct:  SUCCESS\n    through: not there')
  })
})
