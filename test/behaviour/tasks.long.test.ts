/** Tasks of a new user: each is a command or two with names that one can guess, and has an exact answer. */
import { readFileSync, readdirSync, renameSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { plainEnv, run, wiretape, type Run } from './run-cli.js'
import { cli, createStage, printed, server, until, type Actor } from './stage.js'

const stage = createStage()
afterAll(() => stage.close())

const env = plainEnv(stage.env)
const here = (...args: string[]): Promise<Run> => wiretape(args, { cwd: stage.folder, env })
const recordings = join(stage.env['XDG_DATA_HOME']!, 'wiretape/recordings')
const secret = ['sk', 'live', '4eC39HqLyjWDarjtT1zdp7dc'].join('_')

type Call = readonly [tool: string, args: object]

/** An agent that uses the shop's server through a recorder, until its last call has a response. */
async function agent(label: string, price: string, calls: readonly Call[]): Promise<Actor> {
  const recorder = stage.start(
    [process.execPath, cli, 'record', '--quiet', '--label', label, '--', ...server('shop-mcp.mjs', price)],
    { env },
  )
  const clientInfo = { name: 'helper-agent', version: '2.0.7' }
  const opening = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
  const requests = [
    ['initialize', opening],
    ['tools/list', {}],
    ...calls.map(([name, args]) => ['tools/call', { name, arguments: args }]),
  ]
  for (const [id, [method, params]] of requests.entries()) {
    await recorder.send(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    await printed(recorder, `"id":${id},`)
  }
  return recorder
}

async function recordShop(label: string, price: string, ...calls: readonly Call[]): Promise<string> {
  const before = new Set(readdirSync(stage.folder, { recursive: true }) as string[])
  const recorder = await agent(label, price, calls)
  recorder.stdin.end()
  await recorder.ended
  const made = readdirSync(recordings).find((name) => !before.has(join('data/wiretape/recordings', name)))
  return join(recordings, made!)
}

/** Moves a recording back by that many days: every time in it, its name, and the time of the file. */
function moveBack(path: string, days: number): void {
  const earlier = (at: string): Date => new Date(Date.parse(at) - days * 86_400_000)
  const iso = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(?=\d*Z)/g
  const text = readFileSync(path, 'utf8').replaceAll(iso, (at) =>
    earlier(`${at}Z`).toISOString().slice(0, -1),
  )
  writeFileSync(path, text)
  const { startedAt } = JSON.parse(text.split('\n')[0]!) as { startedAt: string }
  const [label] = /[a-z]+\.jsonl$/.exec(path)!
  const moved = join(recordings, `${startedAt.replaceAll(/[:.]/g, '-')}-${label}`)
  renameSync(path, moved)
  utimesSync(moved, new Date(startedAt), new Date(startedAt))
}

/** Output of a command, without the spaces between columns; throws when the command fails. */
async function answer(...args: string[]): Promise<string[]> {
  const { stdout, stderr, code } = await here(...args)
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.trim().replaceAll(/ {2,}/g, '  '))
}

beforeAll(async () => {
  moveBack(await recordShop('shop', '3.5', ['find', { q: 'samovar' }]), 40)
  moveBack(await recordShop('shop', '3.5', ['find', { q: 'teapot' }]), 5)
  const pay: Call = ['pay', { card: secret }]
  moveBack(await recordShop('shop', '4.5', ['find', { q: 'kettle' }], ['report', { month: 'May' }], pay), 1)
  await recordShop('shop', '5.5', ['find', { q: 'kettle' }], ['report', { month: 'May' }])
}, 60_000)

describe('a new user', () => {
  it('asks which tool is slow', async () => {
    const [head, first] = await answer('stats', '--since', 'yesterday')
    expect(head).toMatch(/^tool {2}calls {2}errors {2}p50 {2}p95/)
    expect(first).toMatch(/^report {2}2 {2}\d+ ms .* \(shop(?:~1)? #\d\)$/)
  })

  it('asks what failed yesterday', async () => {
    const [first, , end] = await answer('explain', 'shop@yesterday')
    expect(first).toMatch(
      /^#8 {2}tools\/call pay: The tool ran and reported a failure\. .*“Card declined”\.$/,
    )
    expect(end).toBe('1 of 5 requests failed. For details of one: wiretape explain shop@yesterday N')
    const found = await answer('search', 'status:error', '--since', 'yesterday')
    expect(found[0]).toBe('shop~1')
    expect(found[2]).toMatch(/^#9 .* ← result of #8 tools\/call pay · .*Card declined/)
    expect(found.at(-1)).toMatch(/^2 matches in 1 of 2 recordings$/)
  })

  it("looks for a word in last week's recordings", async () => {
    const lines = await answer('search', 'teapot', 'is:request', '--since', '7d')
    expect(lines[0]).toBe('shop~2')
    expect(lines[1]).toMatch(/^#4 .* → tools\/call find · .*"q":"teapot"/)
    expect(lines.at(-1)).toBe('1 match in 1 of 3 recordings')
  })

  it('asks what the agent asked and got, in full', async () => {
    const lines = await answer('inspect', 'shop@yesterday', '-v', '--filter', 'tool:find')
    const text = lines.join('')
    expect(text).toContain('"params": {"name": "find","arguments": {"q": "kettle"}}')
    expect(text).toContain('"result": {"content": [{"type": "text","text": "kettle: 4.5 EUR"}]}')
    expect(lines.at(-1)).toBe('2 of 10 rows: tool is find')
  })

  it('asks what changed since yesterday', async () => {
    const { stdout, code } = await here('diff', 'shop@yesterday', 'shop')
    expect(code).toBe(1)
    expect(stdout).toContain('~ result.content[0].text "kettle: 4.5 EUR" → "kettle: 5.5 EUR"')
    expect(stdout).toMatch(/missing +tools\/call pay /)
    expect(stdout.trimEnd().split('\n').at(-1)).toMatch(/^Different: 3 same, 1 changed, 1 missing$/)
  })

  it('asks what the server offered, and what was never used', async () => {
    expect((await answer('stats')).at(-1)).toBe('never called: refund')
    const offered = await answer('cost', 'shop')
    expect(offered.slice(1, 5).map((line) => line.split('  ')[3])).toEqual(
      expect.arrayContaining(['find', 'report', 'pay', 'refund']),
    )
    expect(offered.at(-1)).toMatch(/; 2 tools were never called$/)
  })

  it('asks for the versions of client and server', async () => {
    expect((await answer('inspect', 'shop'))[2]).toBe(
      'client helper-agent 2.0.7 · server shop-server 3.1.4 · MCP 2025-11-25',
    )
    expect((await answer('ls'))[1]).toMatch(/ {2}shop-server 3\.1\.4 {2}helper-agent 2\.0\.7 {2}/)
  })

  it('makes a regression test of a session', async () => {
    await answer('codegen', 'shop', '--to', 'node-test', '--out', 'shop.test.mjs')
    symlinkSync(resolve(import.meta.dirname, '../../node_modules'), stage.path('node_modules'))
    const tested = await run([process.execPath, '--test', 'shop.test.mjs'], { cwd: stage.folder, env })
    expect(tested).toMatchObject({ code: 0, stdout: expect.stringMatching(/\b(?:tests|pass) 3\b/) })
  })

  it('shares a recording without the secrets in it', async () => {
    expect(readdirSync(recordings).filter((name) => readIn(name).includes(secret))).toEqual([])
    expect(await answer('convert', 'shop@yesterday', 'share.html')).toEqual(['share.html: 10 messages, html'])
    expect(await answer('convert', 'shop@yesterday', 'share.json')).toEqual([
      expect.stringMatching(/^share\.json: 10 messages, session-json/),
    ])
    for (const file of ['share.html', 'share.json']) {
      const shared = readFileSync(stage.path(file), 'utf8')
      expect(shared).toContain('REDACTED')
      expect(shared).not.toContain(secret)
    }
  })

  it('cleans up old recordings', async () => {
    const planned = await answer('prune', '--older-than', '30d', '--dry-run')
    expect(planned.at(-1)).toMatch(/^1 recording \(\S+ kB\) would be deleted, 3 recordings \(\S+ kB\) stay$/)
    await answer('prune', '--older-than', '30d')
    expect(readdirSync(recordings).length).toBe(3)
  })

  it('sends a recorded call again with another argument', async () => {
    const sets = ['--set', '$.params.arguments.q="samovar"']
    expect(await answer('call', '--from', 'shop', '4', ...sets, '--yes')).toEqual(['samovar: 5.5 EUR'])
  })

  describe('while an agent works', () => {
    let live: Actor
    beforeAll(async () => {
      live = await agent('mine', '7.5', [['find', { q: 'cup' }]])
    })

    it('asks who is connected now', async () => {
      const first = await until('the capture is listed', async () =>
        (await answer()).find((line) => line.startsWith('● mine')),
      )
      expect(first).toMatch(/^● mine {2}.* live +helper-agent → shop-server$/)
      expect((await answer())[0]).toMatch(/, 1 live$/)
    })

    it('follows the session', async () => {
      const tail = stage.start([process.execPath, cli, 'tail'], { env })
      await printed(tail, 'cup: 7.5 EUR')
      const params = { name: 'find', arguments: { q: 'mug' } }
      await live.send(`${JSON.stringify({ jsonrpc: '2.0', id: 9, method: 'tools/call', params })}\n`)
      await printed(tail, 'mug: 7.5 EUR')
      expect(tail.stdout().toString()).toMatch(
        /→ tools\/call find +q: "mug"\n.*← result of #\d+ tools\/call find +mug: 7\.5 EUR\n/,
      )
      live.stdin.end()
      expect(await tail.ended).toEqual({ exitCode: 0, signal: null })
    })
  })
})

function readIn(name: string): string {
  return readFileSync(join(recordings, name), 'utf8')
}
