import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { answers, call, ping } from '../behaviour/mini-talk.js'
import { wiretapeIn } from '../behaviour/run-cli.js'
import { server, until, useStage } from '../behaviour/stage.js'
import { linesOfTape, type Line } from '../behaviour/tape-bytes.js'

const stage = useStage()
const cli = wiretapeIn(stage)
const sessionOf = (name: string): Line => JSON.parse(readFileSync(stage.path(name), 'utf8'))

const rules = `
  rules:
    - name: swap
      when: 'method:tools/call id:2'
      set: { '$.params.arguments.text': 'MODIFIED' }
    - name: block
      when: 'id:3'
      respond: { error: { code: -1, message: 'blocked' } }
    - { name: gone, when: 'id:4 dir:in', drop: true }`

/** Records a conversation in which a rule changes, answers and drops a request; the last one passes. */
async function recordTalk(...options: string[]): Promise<void> {
  writeFileSync(stage.path('rules.yaml'), rules)
  const given = ['--rules', 'rules.yaml', '--session-file', 's.json', ...options]
  const recorder = stage.start(stage.record(server('mini-mcp.mjs'), given))
  await recorder.send(ping(1) + call(2, 'echo', { text: 'x' }) + call(3, 'echo') + ping(4) + ping(5))
  await until('all are answered', () => answers(recorder).length >= 4)
  recorder.stdin.end()
  await recorder.ended
}
const bare = (session: Line): Line[] =>
  session['messages'].map(({ proxy_id: _, timestamp: _t, correlated_id: _c, ...entry }: Line) => entry)

describe('a session file beside a strict tape', () => {
  it('is made of what was recorded, not of the strict tape', async () => {
    await recordTalk('--target', 'mini', '--strict-v1')
    const { messages, metadata, transport } = sessionOf('s.json')
    expect(metadata).toMatchObject({ target: 'mini' })
    expect(transport).toBe('stdio')
    expect(messages.find((entry: Line) => entry['modified'])).toMatchObject({
      jsonrpc_id: 2,
      payload: { params: { arguments: { text: 'MODIFIED' } } },
      original_payload: { params: { arguments: { text: 'x' } } },
    })
    for (const { proxy_id } of messages) expect(proxy_id).toMatch(/^[\da-f]{8}-/)
    expect(readdirSync(stage.out)).toEqual([expect.stringMatching(/\.jsonl$/)])
    // The same conversation without the strict form gives the same session.
    await recordTalk('--target', 'mini')
    const order = (entries: Line[]): Line[] =>
      entries
        .toSorted((a, b) => a['jsonrpc_id'] - b['jsonrpc_id'] || (a['direction'] < b['direction'] ? -1 : 1))
        .map(({ sequence: _, ...entry }) => entry)
    expect(order(bare(sessionOf('s.json')))).toEqual(order(bare({ messages })))
  })

  it('is what it is over HTTP', async () => {
    const url = 'http://127.0.0.1:9/mcp'
    const recorder = stage.start(
      stage
        .record([], ['--url', url, '--listen', '0', '--strict-v1', '--session-file', 's.json'])
        .filter((word) => word !== '--'),
    )
    await until(
      'it listens',
      () => recorder.stderr().includes('http://') || recorder.stdout().includes('http://'),
    )
    recorder.child.kill('SIGTERM')
    await recorder.ended
    expect(sessionOf('s.json')).toMatchObject({
      transport: 'streamable-http',
      server_url: url,
      server_command: null,
    })
  })
})

describe('a request that did not cross the wire', () => {
  it('has an entry that says so, and nothing refers to what is not there', async () => {
    await recordTalk()
    const { messages } = sessionOf('s.json')
    const ids = new Set(messages.map(({ proxy_id }: Line) => proxy_id))
    for (const { correlated_id } of messages)
      expect(correlated_id === null || ids.has(correlated_id)).toBe(true)
    expect(messages.find((entry: Line) => entry['answeredBy'])).toMatchObject({
      jsonrpc_id: 3,
      answeredBy: 'rule block',
    })
    expect(messages.find((entry: Line) => entry['dropped'])).toMatchObject({ jsonrpc_id: 4, dropped: true })
    const { stdout } = await cli('proxy', 'inspect', '--session-file', 's.json')
    expect(stdout).toContain(`Messages: ${messages.length}\n`)
    expect(stdout).toMatch(/> tools\/call id=3 \[ANSWERED BY rule block\]$/m)
    expect(stdout).toMatch(/> ping id=4 \[DROPPED\]$/m)
    await cli('convert', 's.json', 'back.jsonl')
    const [tape] = stage.tapes()
    expect(readFileSync(stage.path('back.jsonl'), 'utf8')).toBe(readFileSync(tape!, 'utf8'))
  })

  it('is not sent by a replay, also of a session file that only its documented members are left of', async () => {
    await recordTalk()
    const session = sessionOf('s.json')
    delete session['metadata'].wiretape
    writeFileSync(stage.path('bare.json'), JSON.stringify(session))
    for (const file of ['s.json', 'bare.json']) {
      const run = await cli('replay', file, '--no-handshake', '--', ...server('mini-mcp.mjs'))
      expect(run.stdout).not.toMatch(/ #4|not sent/)
      const results = await cli(
        'replay',
        file,
        '--no-handshake',
        '--output',
        'r.json',
        '--',
        ...server('mini-mcp.mjs'),
      )
      expect(results.stderr).toBe('')
      const sent = sessionOf('r.json')['results'].map(({ sent_message }: Line) => sent_message.id)
      expect(sent).not.toContain(4)
    }
    expect(await cli('inspect', '--check', 'bare.json')).toEqual({
      ...(await cli('inspect', '--check', 's.json')),
      stdout: expect.anything(),
    })
  })

  it('is on the strict tape when we answered it, and not when it was dropped', async () => {
    await recordTalk('--strict-v1')
    const lines = linesOfTape(stage.tape()).slice(1, -1)
    const of = (id: number): unknown[] => lines.filter(({ raw }) => raw.id === id).map(({ dir }) => dir)
    expect(of(3)).toEqual(['in', 'out'])
    expect(of(4)).toEqual([])
    for (const line of lines) expect(Object.keys(line)).toEqual(['t', 'dir', 'raw'])
  })
})

it('a session file of a strict tape whose recorder was killed is recovered from what was recorded', async () => {
  const recorder = stage.start(
    stage.record(server('mini-mcp.mjs'), ['--strict-v1', '--session-file', 's.json', '--target', 'mini']),
  )
  await recorder.send(ping(1))
  await until('it is answered', () => answers(recorder).length >= 1)
  const tape = await until('it is on the tape', () => {
    const [path] = stage.tapes()
    return path !== undefined && readFileSync(path, 'utf8').split('\n').length > 3 && path
  })
  recorder.child.kill('SIGKILL')
  await recorder.ended
  expect(existsSync(stage.path('s.json'))).toBe(false)
  expect(await cli('recover', tape, '--session-file', 's.json')).toMatchObject({ code: 0 })
  expect(sessionOf('s.json').metadata).toMatchObject({ target: 'mini' })
})
