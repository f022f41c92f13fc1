import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { call, createReplayStage, opening, type Client, type ReplayStage } from './replay-stage.js'
import { plainEnv, type Run } from './run-cli.js'
import { cli, createStage, printed, server } from './stage.js'

const release = (...changes: string[]): string[] => server('release.mjs', ...changes)

/** A conversation in which the server returns a cursor and a handle, and requires them later. */
const user: Client = {
  messages: [
    ...opening,
    { id: 1, method: 'tools/list' },
    ({ result }) => ({ id: 2, method: 'tools/list', params: { cursor: result.nextCursor } }),
    call(3, 'search', { query: 'x' }),
    call(4, 'open'),
    ({ result }) => call(5, 'read', JSON.parse(result.content[0]!.text)),
  ],
}
const answering: Client = {
  answers: { 'roots/list': { result: { roots: [{ uri: 'file:///recorded' }] } } },
  messages: [
    ...opening,
    call(1, 'ask'),
    { id: 2, method: 'tools/call', params: { name: 'progress', _meta: { progressToken: 7 } } },
  ],
}

describe('wiretape replay', () => {
  let stage: ReplayStage
  beforeAll(async () => {
    stage = createReplayStage()
    for (const name of ['base', 'old']) {
      await stage.record(`${name}.jsonl`, user, release())
      writeFileSync(stage.path(`${name}.compare.yaml`), 'match: {"$..handle": uuid}\n')
    }
    await stage.record('asks.jsonl', answering, server('mini-mcp.mjs'))
  })
  afterAll(() => stage.close())

  const replay = (tape: string, command: readonly string[], ...options: string[]): Promise<Run> =>
    stage.run('replay', tape, ...options, '--', ...command)
  /** Lines about exchanges and offers, without their numbers. */
  const found = ({ stdout }: Run): string[] =>
    stdout
      .split('\n')
      .filter((line) =>
        /^ {2}(?:changed|error now|fixed now|missing|new|timed out|breaking|review|compatible) /.test(line),
      )
      .map((line) => line.trim().replaceAll(/ {2,}/g, ' '))

  it('finds nothing in the same server, whose cursors and handles are new ones', async () => {
    const run = await replay('base.jsonl', release())
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(run.stdout).toMatch(/^Replaying 7 messages of base\.jsonl against .*release\.mjs\n/)
    expect(run.stdout).toContain('Same: 6 exchanges')
  })

  it('marks a time-out and goes on', async () => {
    const run = await replay('base.jsonl', release('hang'), '--timeout', '5')
    expect(found(run)).toEqual(['timed out tools/call search #7'])
    expect(run.stdout).toContain('    Timeout after 5.0s\n')
    expect(run.stdout).toContain('Different: 5 same, 1 timed out')
    expect(run.stdout).not.toContain('a longer time-out')
  })

  it('ends when the server dies, and reports the messages that were not sent', async () => {
    const run = await replay('base.jsonl', release('die'))
    expect(found(run)).toEqual(['error now tools/call search #7'])
    expect(run.stdout).toContain('Stopped: the server exited with 3')
    expect(run.stdout).toContain('2 not sent')
    expect(run.code).toBe(1)
  })

  it("answers the server's own requests as the recorded client did", async () => {
    expect(await replay('asks.jsonl', server('mini-mcp.mjs'), '--all')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('same       roots/list (sent by the server)'),
    })
  })

  it('accepts new responses into the recording, and then finds no difference', async () => {
    const updated = await replay('old.jsonl', release('drop-field', 'describe'), '--update')
    expect(updated).toMatchObject({ code: 0, stderr: '' })
    expect(updated.stdout).toContain('Accepted 4 responses into old.jsonl')
    expect(await replay('old.jsonl', release('drop-field', 'describe'))).toMatchObject({ code: 0 })
    expect(readFileSync(stage.path('old.jsonl.bak'), 'utf8')).toContain('took')
    expect(await stage.run('inspect', '--check', 'old.jsonl')).toMatchObject({ code: 0 })
  })

  it('shows no secret of the target, on the screen or in files', async () => {
    const command = [...release('drop-field'), '--token', 'Tok-5ecret', 'API_KEY=Key-5ecret']
    const kinds = ['json', 'junit', 'markdown', 'github']
    const reports = kinds.flatMap((kind) => ['--report', `${kind}=hidden.${kind}`])
    const run = await replay('base.jsonl', command, '--output', 'hidden.results', ...reports)
    expect(run).toMatchObject({ code: 1, stderr: '' })
    const url = 'http://me:Pass-5ecret@127.0.0.1:1/mcp?api_key=Key-5ecret'
    const byUrl = await stage.run('replay', 'base.jsonl', '--url', url)
    const byNoUrl = await stage.run('replay', 'base.jsonl', '--url', url.replace('http', 'ftp'))
    const files = [...kinds, 'results'].map((kind) => readFileSync(stage.path(`hidden.${kind}`), 'utf8'))
    const told = [run.stdout, byUrl.stdout, byUrl.stderr, byNoUrl.stderr, ...files]
    expect(told.filter((text) => text.includes('5ecret'))).toEqual([])
    expect(JSON.parse(files.at(-1)!)).toMatchObject({
      target_command: expect.stringMatching(/--token .*REDACTED.* .*API_KEY=.*REDACTED/),
    })
    expect(byUrl.stdout).toContain('against http://me:[REDACTED]@127.0.0.1:1/mcp?api_key=[REDACTED]\n')
  })

  it('prints JSON for machines', async () => {
    const run = await replay('base.jsonl', release('drop-field'), '--json')
    expect(JSON.parse(run.stdout)).toMatchObject({ same: false, counts: { same: 5, changed: 1 } })
  })

  it('keeps its results so far on Ctrl-C', async () => {
    const theatre = createStage()
    try {
      const results = stage.path('partial.json')
      const args = [
        'replay',
        stage.path('base.jsonl'),
        '--all',
        '--output',
        results,
        '--',
        ...release('hang'),
      ]
      const actor = theatre.start([process.execPath, cli, ...args], { env: plainEnv(), detached: true })
      await printed(actor, 'tools/list  #5')
      process.kill(actor.pid, 'SIGINT')
      expect(await actor.ended).toEqual({ exitCode: 130, signal: null })
      const file: { results: { verdict: string }[] } = JSON.parse(readFileSync(results, 'utf8'))
      const entries = file.results
      expect(entries.map(({ verdict }) => verdict).slice(0, 4)).toEqual(['same', null, 'same', 'same'])
      expect(entries[4]).toMatchObject({
        verdict: 'not sent',
        error: 'No response: interrupted',
        sent_message: { id: 3 },
      })
      expect(entries.at(-1)).toMatchObject({ verdict: 'not sent', error: 'Not sent: interrupted' })
    } finally {
      await theatre.close()
    }
  })
})
