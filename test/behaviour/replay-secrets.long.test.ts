/** Redacted values come from the environment. Without them, the calls that need them are left out, with a notice. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { call, createReplayStage, opening, type Client, type ReplayStage } from './replay-stage.js'
import { plainEnv, run, type Run } from './run-cli.js'
import { cli } from './stage.js'

/** A server that returns a handle for the right password, a new one in each run, and requires it later. */
const program = `
let handle
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  const { name, arguments: args = {} } = params ?? {}
  const text = (text) => ({ content: [{ type: 'text', text }] })
  const make = () => {
    if (method === 'initialize')
      return { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } }
    if (name === 'open') {
      if (args.password !== ['hunter', '-hunter', ''].join('2')) return text('denied')
      handle = 'conn-' + Math.random().toString(36).slice(2, 10) + '7'
      return text(JSON.stringify({ handle }))
    }
    if (name === 'read') return text(handle !== undefined && args.handle === handle ? 'content' : 'no such handle')
    return text(process.argv[1] === 'changed' ? 'other' : 'plain')
  }
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result: make() }))
})`
const server = (...args: string[]): string[] => [process.execPath, '-e', program, ...args]

const client: Client = {
  messages: [
    ...opening,
    call(1, 'open', { password: 'hunter2-hunter2' }),
    ({ result }) => call(2, 'read', JSON.parse(result.content[0]!.text)),
    call(3, 'search', { query: 'x' }),
  ],
}

describe('a replay with redacted arguments', () => {
  let stage: ReplayStage
  beforeAll(async () => {
    stage = createReplayStage()
    await stage.record('secret.jsonl', client, server())
    expect(readFileSync(stage.path('secret.jsonl'), 'utf8')).not.toContain('hunter2')
  })
  afterAll(() => stage.close())

  const replay = (env: Record<string, string>, options: string[], command = server()): Promise<Run> =>
    run([process.execPath, cli, 'replay', 'secret.jsonl', ...options, '--', ...command], {
      cwd: stage.folder,
      env: plainEnv(env),
    })
  const place = '$.params.arguments.password'
  const notes = [
    `#3 tools/call open was skipped: ${place} was redacted; set PASSWORD or WIRETAPE_SECRET_`,
    '#5 tools/call read was skipped: needs a value from the response to #3',
  ]

  it('takes them from the environment', async () => {
    const { code, stdout, stderr } = await replay({ PASSWORD: 'hunter2-hunter2' }, [])
    expect(stderr).toBe('')
    expect(stdout).toContain(
      `Note: #3 tools/call open: ${place} was redacted; its value comes from the environment variable PASSWORD\n`,
    )
    expect(stdout).toContain('Same: 4 exchanges')
    expect(stdout).not.toContain('hunter2')
    expect(code).toBe(0)
    expect((await replay({ PASSWORD: 'wrong' }, [])).code).toBe(1)
  })

  it('leaves out the call, and calls that need its response, and says so in every report', async () => {
    const reports = ['json=r.json', 'junit=r.xml', 'markdown=r.md', 'github=r.txt']
    const { code, stdout, stderr } = await replay({}, [
      ...reports.flatMap((report) => ['--report', report]),
      '--output',
      'results.json',
    ])
    expect(stderr).toBe('')
    for (const note of notes) expect(stdout).toContain(`Note: ${note}`)
    expect(stdout).toContain('Same: 2 exchanges')
    expect(code).toBe(0)
    const read = (name: string): string => readFileSync(stage.path(name), 'utf8')
    expect(JSON.parse(read('r.json')).notes).toEqual(notes.map((note) => expect.stringContaining(note)))
    for (const name of ['r.xml', 'r.md', 'r.txt']) {
      expect(read(name)).toMatch(/#3 tools\/call open was skipped.*PASSWORD/)
      expect(read(name)).toContain('#5 tools/call read was skipped')
    }
    expect(JSON.parse(read('results.json')).results).toHaveLength(3)
  })

  it("exits with the remaining calls' status", async () => {
    const { code, stdout } = await replay({}, [], server('changed'))
    expect(stdout).toContain('changed')
    expect(stdout).toContain(`Note: ${notes[0]}`)
    expect(code).toBe(1)
  })

  it('refuses with --strict-secrets, before anything is sent', async () => {
    const { code, stdout, stderr } = await replay({}, ['--strict-secrets'])
    expect(stdout).toBe('')
    expect(stderr).toContain(`redacted values are missing: #3 tools/call open: ${place}`)
    expect(code).toBe(2)
    const given = await replay({ PASSWORD: 'hunter2-hunter2' }, ['--strict-secrets'])
    expect(given.code).toBe(0)
  })
})
