/** The policy binds every command that records. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { expectSchema } from './data-folder.js'
import { runOnTerminal, wiretape, type Run } from './run-cli.js'
import { cli, server } from './stage.js'
import { input, usePolicy } from './policy-stage.js'

const { home, env, record, tapes } = usePolicy()

describe('a policy', () => {
  it('applies to the recording that a mock makes of a real server', async () => {
    const out = join(home(), 'out.jsonl')
    const argv = ['mock', 'plain-v1.jsonl', '--fallback', '--record', 'new', '--out', out, '--', 'cat']
    const { stderr, code } = await wiretape(argv, { env: env('version: 1\nrecord: none') })
    expect([stderr, code]).toEqual([expect.stringMatching(/policy of this machine does not allow it/), 2])
    expect(readdirSync(home())).not.toContain('out.jsonl')
  })

  it('says its consent line to a terminal', async () => {
    const argv = [process.execPath, cli, 'record', '--', 'true']
    const run = await runOnTerminal(argv, 100, { env: env('version: 1\nconsent: This is recorded.') })
    expect(run.stdout).toContain('wiretape: This is recorded.\n')
  })

  it('with a quota stops recording when unshipped recordings fill it, and continues when there is room', async () => {
    const store = join(home(), 'store')
    const policy = `version: 1\nquota: 300kB\nship: { to: ${store} }`
    const line = `{"jsonrpc":"2.0","method":"x","params":"${'y'.repeat(50_000)}"}\n`
    const options = { env: env(policy), input: line.repeat(12) }
    const full = await wiretape(['record', '--', 'cat'], options)
    expect(full.stdout).toBe(options.input)
    expect(full.stderr).toMatch(/the local quota is full of segments that are not shipped: recording stops/)
    const [tape] = tapes()
    expect(tape).toMatch(/"type":"gap".*the local quota is full/)
    expect(tape!.length).toBeLessThan(300_000)
    const pruned = await wiretape(['prune', '--keep-size', '1kB'], { env: options.env })
    expect(pruned.stderr).toContain('not shipped yet')
    expect(tapes()).toHaveLength(1)
    expect((await wiretape(['ship'], { env: options.env })).stdout).toMatch(/^shipped 1 segment /)
    // Now the first recording may be deleted to make room.
    const small = await wiretape(['record', '--', 'cat'], { ...options, input: line.repeat(2) })
    expect(small.stderr).toBe('')
    expect(tapes()).toHaveLength(1)
    expect(tapes()[0]).not.toContain('"gap"')
    const fleet = await wiretape(['status', '--fleet', '--json'], { env: options.env })
    expectSchema('fleet', JSON.parse(fleet.stdout))
    expect(JSON.parse(fleet.stdout)).toMatchObject({ hosts: [{ segments: 1, lagMs: 0 }] })
    expect(JSON.parse(fleet.stdout).hosts[0].gaps).toBeGreaterThan(0)
    expect((await wiretape(['status', '--fleet'], { env: options.env })).stdout).toMatch(/^host .*refusals/)
  })

  it('with a quota leaves recordings outside of the data folder alone, which are never shipped', async () => {
    const policy = `version: 1\nquota: 100kB\nship: { to: ${join(home(), 'store')} }`
    const line = `{"jsonrpc":"2.0","method":"x","params":"${'y'.repeat(50_000)}"}\n`
    const out = join(home(), 'out')
    const argv = ['record', '--out', out, '--', 'cat']
    const run = await wiretape(argv, { env: env(policy), input: line.repeat(4) })
    expect([run.stderr, run.code]).toEqual(['', 0])
    const [name] = readdirSync(out)
    expect(readFileSync(join(out, name!), 'utf8')).not.toContain('"gap"')
  })

  it('with retention deletes recordings that are too old or too large in total', async () => {
    const recordings = join(home(), 'wiretape/recordings')
    const names = (): string[] => readdirSync(recordings).filter((name) => name.endsWith('.jsonl'))
    await record('version: 1')
    const [first] = names()
    const store = join(home(), 'store')
    const ship = (policy: string): Promise<Run> => wiretape(['ship', '--to', store], { env: env(policy) })
    await ship('version: 1\nretention: { age: 1d, size: 1MB }')
    expect(names()).toEqual([first])
    const text = readFileSync(join(recordings, first!), 'utf8')
    writeFileSync(join(recordings, first!), text.replaceAll(/20\d\d-(\d\d-\d\dT)/g, '2020-$1'))
    const longAgo = new Date('2020-01-01')
    utimesSync(join(recordings, first!), longAgo, longAgo)
    await ship('version: 1\nretention: { age: 1d }')
    expect(names()).toEqual([])
    await wiretape(['record', '--', 'cat'], { env: env('version: 1'), input: input.repeat(10) })
    expect(names()).toHaveLength(1)
    await ship('version: 1\nretention: { size: 1kB }')
    expect(names()).toEqual([])
  })

  it('applies to recordings of `run`', async () => {
    const call = { name: 'one', request: { method: 'tools/list' } }
    const file = join(home(), 'a.yaml')
    writeFileSync(file, JSON.stringify({ server: { command: server('varying-mcp.mjs') }, calls: [call] }))
    const taped = join(home(), 'taped')
    const names = (): string[] => (existsSync(taped) ? readdirSync(taped) : [])
    const argv = ['run', file, '--record', taped]
    const unrecorded = await wiretape(argv, { env: env('version: 1\nrecord: none') })
    expect(unrecorded).toMatchObject({ code: 0, stdout: 'Same: 1 exchange\n' })
    expect(names().filter((name) => name.endsWith('.jsonl'))).toEqual([])
    expect(await wiretape(argv, { env: env('version: 1') })).toMatchObject({ code: 0 })
    expect(names().filter((name) => name.endsWith('.jsonl'))).toHaveLength(1)
  })

  it('applies to servers that `install` set up', async () => {
    const config = join(home(), '.cursor/mcp.json')
    mkdirSync(join(home(), '.cursor'))
    writeFileSync(config, JSON.stringify({ mcpServers: { shop: { command: 'cat', args: [] } } }))
    const of = (policy: string): NodeJS.ProcessEnv => ({ ...env(policy), HOME: home() })
    const installed = await wiretape(['install', 'cursor', '--server', 'shop'], {
      env: of('version: 1'),
      cwd: home(),
    })
    expect(installed).toMatchObject({ code: 0, stderr: '' })
    const { mcpServers } = JSON.parse(readFileSync(config, 'utf8')) as {
      mcpServers: { shop: { command: string; args: string[] } }
    }
    const { command, args } = mcpServers.shop
    const start = (policy: string): string =>
      spawnSync(command, args, { env: of(policy), input, encoding: 'utf8' }).stdout
    expect(start('version: 1\nrecord: { clients: [claude-code] }')).toBe(input)
    expect(tapes()).toEqual([])
    expect(start('version: 1\nrecord: { clients: [cursor] }')).toBe(input)
    expect(tapes()).toHaveLength(1)
  })
})
