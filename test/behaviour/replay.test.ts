import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { plainEnv } from './run-cli.js'
import { cli, createStage, printed, server } from './stage.js'
import { found, release, useReleases } from './replay-release-stage.js'

const { stage, replay } = useReleases()

describe('wiretape replay', () => {
  it('finds nothing in the same server, whose cursors and handles are new ones', async () => {
    const run = await replay('base.jsonl', release())
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(run.stdout).toMatch(/^Replaying 7 messages of base\.jsonl against .*release\.mjs\n/)
    expect(run.stdout).toContain('Same: 6 exchanges')
  })

  it('marks a time-out and goes on', async () => {
    const run = await replay('base.jsonl', release('hang'), '--timeout', '3')
    expect(found(run)).toEqual(['timed out tools/call search #7'])
    expect(run.stdout).toContain('    Timeout after 3.0s\n')
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
