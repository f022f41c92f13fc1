import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createReplayStage, opening, type ReplayStage } from './replay-stage.js'
import { expectSchema } from './data-folder.js'
import type { Run } from './run-cli.js'
import { server } from './stage.js'

const release = (...changes: string[]): string[] => server('release.mjs', ...changes)
const search = (id: number) => ({
  id,
  method: 'tools/call',
  params: { name: 'search', arguments: { query: 'x' } },
})

describe('the reports of a replay', () => {
  let stage: ReplayStage
  beforeAll(async () => {
    stage = createReplayStage()
    await stage.record('base.jsonl', { messages: [...opening, search(1)] }, release())
  })
  afterAll(() => stage.close())

  const reports = ['junit=r.xml', 'markdown=r.md', 'github=r.txt', 'json=r.json']
  const replay = (tape: string, command: readonly string[], ...options: string[]): Promise<Run> =>
    stage.run(
      'replay',
      tape,
      ...reports.flatMap((report) => ['--report', report]),
      ...options,
      '--',
      ...command,
    )
  const written = (name: string): string => readFileSync(stage.path(name), 'utf8')

  it('are red when it was stopped, and say why', async () => {
    expect(await replay('base.jsonl', release('refuse'))).toMatchObject({ code: 1 })
    const why = 'the handshake was refused: error -32000: Not today'
    expect(written('r.xml')).toMatch(/<testsuites tests="\d+" failures="\d+" errors="1">/)
    expect(written('r.xml')).toContain(`<error message="${why}" type="stopped">`)
    expectSchema('diff', JSON.parse(written('r.json')))
    expect(written('r.md')).toContain(`Stopped: \`${why}\``)
    expect(written('r.txt')).toContain(`::error title=stopped::${why}\n`)
    expect(JSON.parse(written('r.json'))).toMatchObject({ same: false, stopped: why })
  })

  it('say in which of several runs something differed', async () => {
    const { stdout } = await replay('base.jsonl', release('drop-field'), '--repeat', '2')
    expect(stdout).toMatch(/^ {2}changed {4}tools\/call search {2}#3, run 1$/m)
    expect(stdout).toMatch(/^ {2}changed {4}tools\/call search {2}#3, run 2$/m)
    const names = [...written('r.xml').matchAll(/ name="([^"]* #\d[^"]*)"/g)].map(([, name]) => name)
    expect(names).toContain('tools/call search #3 (run 2)')
    expect(new Set(names).size).toBe(names.length)
    expect(written('r.md')).toMatch(/\| changed \| `tools\/call search` \| 3 → 3, run 2 \|/)
    expect(written('r.txt')).toContain('title=changed%3A tools/call search (run 2)::')
    expectSchema('diff', JSON.parse(written('r.json')))
    const { exchanges } = JSON.parse(written('r.json')) as { exchanges: { run: number }[] }
    expect(exchanges.map(({ run }) => run)).toEqual([1, 1, 2, 2])
  })

  it('contain no value that was set', async () => {
    await replay('base.jsonl', release(), '--set', '$.params.arguments.query=geheim')
    expect(written('r.json')).not.toMatch(/geheim|"times"/)
  })

  it('have no trailing blanks in their lines', async () => {
    const asks = `require('readline').createInterface(process.stdin).on('line', (line) => {
      const { id, method } = JSON.parse(line)
      const say = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }))
      const info = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 's', version: '1' } }
      if (method === 'initialize') say({ id, result: info })
      else if (method === 'tools/call') {
        say({ id: 'q', method: 'roots/list' })
        say({ id, result: { content: [] } })
      }
    })`
    const { stdout } = await replay('base.jsonl', [process.execPath, '-e', asks])
    expect(stdout).toMatch(/^ {2}new {8}roots\/list \(sent by the server\)$/m)
    expect(stdout).not.toMatch(/ $/m)
  })

  it.each([['replay'], ['proxy', 'replay']])('have a pace that the help explains: %j', async (...command) => {
    const { stdout } = await stage.run(...command, '--help')
    expect(stdout).toMatch(/--pace <pace>[^(]*\(default: fast\)/)
  })
})
