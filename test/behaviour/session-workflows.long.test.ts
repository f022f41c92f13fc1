/** The three documented uses of the session file, each from its first command to its last. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sharedFixture } from '../shared-fixtures.js'
import { createReplayStage, opening, talk, type ReplayStage } from './replay-stage.js'
import { plainEnv, type Run } from './run-cli.js'
import { cli, server } from './stage.js'

const line = (argv: readonly string[]): string => argv.map((word) => `'${word}'`).join(' ')
const release = (...changes: string[]): string => line(server('release.mjs', ...changes))
const search = { id: 1, method: 'tools/call', params: { name: 'search', arguments: { query: 'x' } } }

describe('the session workflow', () => {
  let stage: ReplayStage
  beforeAll(() => {
    stage = createReplayStage()
  })
  afterAll(() => stage.close())

  const proxy = (command: string, options: Readonly<Record<string, string>>): Promise<Run> =>
    stage.run('proxy', command, ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]))

  /** A client that starts `proxy start` in place of its server. */
  const start = (command: string, sessionFile: string, ...options: string[]): Promise<void> => {
    const argv = [
      'proxy',
      'start',
      '--transport',
      'stdio',
      '--target-command',
      command,
      '--session-file',
      sessionFile,
    ]
    const messages = [...opening, search]
    return talk(
      [process.execPath, cli, ...argv, '--out', stage.path('tapes'), ...options],
      { messages },
      stage.folder,
    )
  }

  it('accepts a transport in upper or lower case, and --no-intercept', async () => {
    const options = ['--transport', 'STDIO', '--no-intercept', '--listen-transport', 'StdIO']
    await start(release(), 'any-case.json', ...options)
    expect(JSON.parse(readFileSync(stage.path('any-case.json'), 'utf8')).messages).toHaveLength(5)
    const wrong = await stage.run('proxy', 'start', '--transport', 'http')
    expect(wrong).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Allowed choices are stdio, streamable-http, sse.'),
    })
  })

  it('serves clients over the transport named with --transport', async () => {
    const argv = ['proxy', 'start', '--target-command', release(), '--listen-transport', 'streamable-http']
    const child = spawn(process.execPath, [cli, ...argv, '--out', stage.path('tapes')], {
      cwd: stage.folder,
      env: plainEnv(),
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let said = ''
    const url = await new Promise<string>((found) => {
      child.stdout.on('data', (text) => {
        said += String(text)
        const match = /http:\/\/[^\s)]+/.exec(said)
        if (match) found(match[0])
      })
    })
    const body = { jsonrpc: '2.0', ...opening[0] }
    const accept = 'application/json, text/event-stream'
    const answer = await fetch(url, {
      method: 'POST',
      headers: { accept, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    expect(answer.status).toBe(200)
    expect(await answer.text()).toContain('serverInfo')
    child.kill('SIGTERM')
    await once(child, 'exit')
  })

  it.each([
    [['--listen-transport', 'sse', '--target-command', 'x'], '--listen-transport sse needs --transport sse'],
    [
      ['--listen-transport', 'stdio', '--listen-port', '0', '--target-command', 'x'],
      '--listen-port and --listen-transport stdio cannot be combined',
    ],
    [
      ['--transport', 'sse', '--target-url', 'http://127.0.0.1:1/', '--listen-transport', 'streamable-http'],
      '--listen-transport streamable-http needs --transport streamable-http',
    ],
  ])('refuses %j', async (args, words) => {
    const { code, stderr } = await stage.run('proxy', 'start', ...args)
    expect([code, stderr.split('\n').length]).toEqual([2, 2])
    expect(stderr).toContain(words)
  })

  it('tests for regressions: the baseline of version 1 is replayed against version 2', async () => {
    await start(release(), 'baseline_v1.json')
    const replayed = await proxy('replay', {
      'session-file': 'baseline_v1.json',
      'target-command': release('drop-field'),
      output: 'v2_results.json',
    })
    expect(replayed).toMatchObject({ code: 1, stderr: '' })
    expect(replayed.stdout.split('\n').map((text) => text.replace(/ \d+ms/, ' 0ms'))).toEqual(
      expect.arrayContaining([
        `Replaying 3 messages against "${line(server('release.mjs', 'drop-field')).replaceAll("'", '')}"...`,
        '  #000 → initialize (id=0) ✓ 0ms',
        '  #001 → notifications/initialized (notification) ✓',
        '  #002 → tools/call search (id=1) ✗ 0ms changed',
        'Results: 2/3 succeeded, 1 failed',
        'Results saved to v2_results.json',
      ]),
    )
    const results = JSON.parse(readFileSync(stage.path('v2_results.json'), 'utf8'))
    expect(results).toMatchObject({
      target_command: expect.stringContaining('drop-field'),
      target_url: null,
      results: [
        { error: null, verdict: 'same', sequence: 0 },
        { response: null, error: null, verdict: null },
        {
          original_request: search,
          sent_message: search,
          response: { id: 1, result: {} },
          error: null,
          duration_ms: expect.any(Number),
          recorded_response: { id: 1, result: {} },
          verdict: 'changed',
          differences: [{ kind: 'removed', pointer: '/result/content/0/text/took', before: '12ms' }],
        },
      ],
    })
    const same = await proxy('replay', { 'session-file': 'baseline_v1.json', 'target-command': release() })
    expect(same.code).toBe(0)
  })

  it('reproduces a finding: the exported session shows it, and replays to the same answers', async () => {
    await start(release('fail'), 'vulnerable_interaction.json', '--note', 'search says too much')
    const exported = await proxy('export', {
      'session-file': 'vulnerable_interaction.json',
      output: 'vulnerability_evidence.json',
    })
    expect(exported).toMatchObject({ code: 0, stderr: '' })
    const shown = await stage.run('proxy', 'inspect', '--session-file', 'vulnerability_evidence.json', '-v')
    expect(shown.stdout).toContain('tools/call')
    expect(shown.stdout).toContain('took')
    const again = await proxy('replay', {
      'session-file': 'vulnerability_evidence.json',
      'target-command': release('fail'),
    })
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('Results: 3/3 succeeded') })
  })

  it('keeps an audit trail: metadata and every message of the session are in the evidence', async () => {
    await start(release(), 'security_test.json', '--target', 'release', '--meta', 'auditor=Ann')
    await proxy('export', {
      'session-file': 'security_test.json',
      output: 'audit_evidence.json',
      note: 'Q3',
    })
    const evidence = JSON.parse(readFileSync(stage.path('audit_evidence.json'), 'utf8'))
    expect(evidence).toMatchObject({
      transport: 'stdio',
      metadata: { target: 'release', auditor: 'Ann', notes: 'Q3' },
    })
    expect(evidence.ended_at).not.toBeNull()
    expect(
      evidence.messages.map(({ method, jsonrpc_id }: Record<string, unknown>) => [method, jsonrpc_id]),
    ).toEqual([
      ['initialize', 0],
      [null, 0],
      ['notifications/initialized', null],
      ['tools/call', 1],
      [null, 1],
    ])
  })

  it('replays a session that another program saved', async () => {
    const sample = sharedFixture('session/qai-sample-session.json')
    if (sample === undefined || !existsSync(sample)) return
    const { code, stdout } = await proxy('replay', {
      'session-file': sample,
      'target-command': line(server('mini-mcp.mjs')),
      timeout: '2',
      output: 'sample.json',
    })
    expect(code).toBe(1)
    expect(stdout).toMatch(/^Replaying 7 messages against /)
    expect(JSON.parse(readFileSync(stage.path('sample.json'), 'utf8')).results).toHaveLength(7)
  })

  it.each([
    [['--session-file', 'x.json'], 'either --target-command or --target-url is required'],
    [['--session-file', 'x.json', '--target-command', "node 'x"], "--target-command: the ' at column"],
    [['--session-file', 'none.json', '--target-command', 'node'], 'cannot read none.json: no such file'],
    [['--session-file', 'x.json', '--target-command', 'node', '--timeout', '0'], 'a bare number is seconds'],
  ])('refuses in one line: %s', async (args, message) => {
    const { code, stderr } = await stage.run('proxy', 'replay', ...args)
    expect(code).toBe(2)
    expect(stderr).toContain(message)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  })
})
