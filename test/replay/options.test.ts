import { getEventListeners } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { replay, type ReplayOptions, type ReplayTarget } from '../../src/replay/index.js'

describe('replay() of the library', () => {
  let folder = ''
  const tape = (): string => join(folder, 'talk.jsonl')
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'wiretape-options-'))
    const meta = '{"v":1,"type":"meta","startedAt":"2026-08-01T10:00:00.000Z","label":"x","command":[]}'
    const message = (dir: string, raw: string): string =>
      `{"t":"2026-08-01T10:00:00.000Z","dir":"${dir}","raw":{"jsonrpc":"2.0","id":1,${raw}}}`
    writeFileSync(
      tape(),
      [meta, message('in', '"method":"ping"'), message('out', '"result":{}'), ''].join('\n'),
    )
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  it.each<[ReplayOptions, RegExp]>([
    [{ speed: 0 }, /speed/],
    [{ speed: Number.NaN }, /speed/],
    [{ timeoutMs: -1 }, /timeoutMs/],
    [{ timeoutMs: Number.NaN }, /timeoutMs/],
    [{ level: 'close' as 'exact' }, /level/],
    [{ concurrency: 'all' as 'one' }, /concurrency/],
    [{ timeout: 5 } as ReplayOptions, /unknown option timeout/],
    [{ handshake: 'no' as unknown as boolean }, /handshake/],
    [{ set: 'x' as unknown as Record<string, unknown> }, /set/],
    [{ set: { '$.params': undefined } }, /\$\.params is undefined/],
    [{ set: { '$.params': () => 1 } }, /\$\.params is not a JSON value/],
    [{ set: { '$.id': 7 } }, /would replace message ids/],
    [{ filter: 1 as unknown as string }, /filter/],
    [{ ignore: 'x' as unknown as string[] }, /ignore/],
    [{ match: [] as unknown as Record<string, string> }, /match/],
    [{ match: { '$.a': 1 } as unknown as Record<string, string> }, /match/],
    [{ compareFile: true as unknown as false }, /compareFile/],
    [{ signal: 1 as unknown as AbortSignal }, /signal/],
    ['fast' as unknown as ReplayOptions, /must be an object/],
  ])('refuses %j', async (options, name) => {
    const replayed = replay(tape(), { command: [process.execPath, '-e', '1'] }, options)
    await expect(replayed).rejects.toMatchObject({
      name: 'WiretapeError',
      code: 'usage',
      message: expect.stringMatching(name),
    })
  })

  it.each([
    [{}],
    [undefined],
    [{ command: 'node server.js' }],
    [{ command: [] }],
    [{ url: 1 }],
    [{ command: ['x'], url: 'http://x' }],
    [{ url: 'http://127.0.0.1:99999/mcp' }],
    [{ url: 'http://127.0.0.1:1/mcp', headers: { a: 'b' } }],
    [{ command: ['x'], cwd: '/' }],
  ])('refuses the target %j', async (target) => {
    await expect(replay(tape(), target as ReplayTarget)).rejects.toMatchObject({
      name: 'WiretapeError',
      code: 'usage',
    })
  })

  it.each([
    ['X', 'a\r\nY: 1'],
    ['X\n', 'a'],
    ['X', '\u{1f600}'],
  ])('refuses a header that HTTP cannot carry: %j: %j', async (name, value) => {
    const target = { url: 'http://127.0.0.1:1/mcp', headers: [[name, value] as const] }
    await expect(replay(tape(), target)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('headers'),
    })
  })

  it('refuses a value that JSON cannot say', async () => {
    const replayed = replay(tape(), { command: [process.execPath, '-e', '1'] }, { set: { '$.params': 1n } })
    await expect(replayed).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringMatching(/not a JSON value \(bigint\)/),
    })
  })

  it('speaks HTTP+SSE where the recording did, whatever its recorder took it for', async () => {
    const t = '2026-08-01T10:00:00.000Z'
    const wiretape = {
      version: '1',
      session: 's',
      transport: 'streamable-http',
      url: 'http://x/sse',
      segment: 0,
    }
    const lines = [
      { v: 1, type: 'meta', startedAt: t, label: 'x', command: [], wiretape },
      {
        type: 'http',
        t,
        us: 0,
        exchange: 0,
        method: 'GET',
        path: '/sse',
        status: 200,
        sse: { event: 'endpoint' },
      },
      { t, us: 1, dir: 'in', raw: { jsonrpc: '2.0', id: 1, method: 'ping' } },
      { t, us: 2, dir: 'out', raw: { jsonrpc: '2.0', id: 1, result: {} } },
    ]
    const path = join(folder, 'sse.jsonl')
    writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    const asked: unknown[] = []
    const server = createServer(({ method }, response) => {
      asked.push(method)
      response.writeHead(404).end()
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as AddressInfo
    await expect(replay(path, { url: `http://127.0.0.1:${port}/sse` })).rejects.toThrow('HTTP 404')
    expect(asked).toEqual(['GET'])
    await new Promise((done) => server.close(done))
  })

  it('is ended by a signal, and leaves nothing of its own at it', async () => {
    const aborting = new AbortController()
    const { signal } = aborting
    const listening: number[] = []
    const command = (script: string): { command: string[] } => ({
      command: [process.execPath, '-e', `process.stdin.on('data', () => ${script})`],
    })
    const answering = command(`console.log('{"jsonrpc":"2.0","id":1,"result":{}}')`)
    for (let i = 0; i < 2; i += 1) {
      const { same } = await replay(tape(), answering, { signal, handshake: false })
      expect(same).toBe(true)
      listening.push(getEventListeners(signal, 'abort').length)
    }
    expect(listening).toEqual([0, 0])
    const asked = join(folder, 'asked')
    const waiting = replay(tape(), command(`require('fs').writeFileSync(${JSON.stringify(asked)}, '')`), {
      signal,
      handshake: false,
      timeoutMs: 100_000,
    })
    await vi.waitFor(() => expect(existsSync(asked)).toBe(true), { timeout: 30_000 })
    aborting.abort()
    expect((await waiting).stopped).toBe('interrupted')
  })

  it('is no green test when nothing could be replayed', async () => {
    const { same, differences } = await replay(tape(), { command: [process.execPath, '-e', '1'] })
    expect(same).toBe(false)
    expect(differences[0]).toMatch(/^stopped: /)
  })
})
