import { ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { describe, expect, it } from 'vitest'
import { printed, until } from './stage.js'
import { untilVersion, useReload } from './reload-stage.js'

const { stage, become, changing, cli, record } = useReload()

describe('record --watch', () => {
  it('is recognised by diff, replay, rules and explain', async () => {
    const one = await record('--watch', '*.json', '--label', 'a')
    await one.client.listTools()
    expect(await one.call('version')).toBe('1')
    const hangs = one.client.callTool({ name: 'hang' }).catch((error: Error) => error.message)
    become({ version: '1', tools: ['heard', 'version', 'hang'], describes: 'otherwise', hangs: false })
    expect(await hangs).toContain('the server restarted before it responded')
    await until('the list is announced', () => one.changes() === 1)
    await one.client.listTools()
    await one.client.close()
    const replayed = await cli('replay', stage.tape(), '--', ...changing())
    expect(replayed.stdout).toContain(
      '1 response was not compared: it came from wiretape or a person, not from the server',
    )
    expect(replayed.stdout).toContain('the server was restarted once during the recording')
    expect(replayed.stdout).not.toMatch(/timed out|hang: changed/)
    const checked = await cli('check', stage.tape(), '--json')
    expect(checked.stdout).not.toContain('safety/changed-definition')
    const told = JSON.parse((await cli('explain', stage.tape(), '--json')).stdout) as {
      notes: { restart: boolean }[]
    }
    expect(told.notes.filter(({ restart }) => restart)).toHaveLength(1)
    const other = await record('--label', 'b')
    await other.client.listTools()
    await other.client.close()
    const [first, second] = stage.tapes()
    const { stdout } = await cli('diff', first!, second!)
    expect(stdout).toContain('the server was restarted once in the old recording')
  })

  it('lists the tools of the new server once, however often the client did', async () => {
    const one = await record('--watch', '*.json')
    const onprogress = (): void => undefined
    await one.client.listTools({}, { onprogress })
    await one.client.listTools({}, { onprogress })
    become({ version: '2', tools: ['heard', 'version'] })
    await untilVersion(one, '2')
    const heard = (await one.call('heard')) as string[]
    expect(heard.filter((method) => method === 'tools/list')).toHaveLength(1)
    await one.client.close()
    expect(one.changes()).toBe(0)
  })

  it('announces nothing if nothing changed, and does not list the messages between itself and the server', async () => {
    const one = await record('--watch', '*.json')
    await one.client.listTools()
    become({ version: '2', tools: ['heard', 'version'] })
    await untilVersion(one, '2')
    await one.client.close()
    expect(one.changes()).toBe(0)
    const { stdout } = await cli('inspect', stage.tape(), '--json')
    expect(stdout).not.toContain('wiretape-reload')
    const restarts = stdout.match(/"restart":\{[^}]*\}/g) ?? []
    expect(restarts.length).toBeLessThanOrEqual(1)
  })

  it('passes on requests of a new server to the client that precede its list', async () => {
    const one = await record('--watch', '*.json', '--reload-timeout', '10m')
    one.client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///x' }] }))
    await one.client.listTools()
    become({ version: '2', tools: ['version', 'more'], asksFirst: true })
    await until('the list is announced', () => one.changes() === 1)
    expect(await one.call('version')).toBe('2')
    expect((await one.client.listTools()).tools.map(({ name }) => name)).toEqual(['version', 'more'])
    await one.client.close()
  })

  it("lets the client's response to them pass requests that wait for the new server", async () => {
    const actor = stage.start(stage.record(changing(), ['--watch', '*.json', '--reload-timeout', '10m']), {
      cwd: stage.folder,
    })
    const say = (message: object): Promise<void> =>
      actor.send(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: { roots: {} },
      clientInfo: { name: 'a', version: '1' },
    }
    await say({ id: 1, method: 'initialize', params })
    await say({ method: 'notifications/initialized' })
    await say({ id: 2, method: 'tools/list' })
    await printed(actor, '"id":2')
    become({ version: '2', tools: [], asksFirst: true })
    await printed(actor, '"roots/list"')
    await say({ id: 3, method: 'tools/call', params: { name: 'version' } })
    await say({ id: 0, result: { roots: [] } })
    await printed(actor, '"id":3')
    actor.stdin.end()
    expect(await actor.ended).toMatchObject({ exitCode: 0 })
  })

  it.each([
    ['an absolute pattern', () => [stage.path('*.json')]],
    ['a folder', () => ['.']],
    ['a pattern that leads out of the folder and back', () => [`../${basename(stage.folder)}/*.json`]],
    ['everything but some files', () => ['**/*', '!*.txt']],
  ])('watches %s, and never its own tape', async (_, patterns) => {
    const one = await record(...patterns().map((pattern) => `--watch=${pattern}`))
    await one.client.listTools()
    writeFileSync(stage.path('notes.txt'), 'x')
    become({ version: '2', tools: ['heard', 'version'] })
    await untilVersion(one, '2')
    await one.client.close()
    const { stdout } = await cli('inspect', stage.tape(), '--json')
    const changes = stdout.match(/[^" ]+ changed: restarting the server/g) ?? []
    expect(changes.filter((line) => line.includes('jsonl'))).toEqual([])
    if (_.startsWith('everything')) expect(changes.join()).not.toContain('notes.txt')
  })

  it('keeps the client waiting while the server does not come up', async () => {
    const one = await record('--watch', 'state.json')
    become('broken')
    await until('it has not come up', () => one.said().includes('did not start'))
    const waits = one.call('version')
    become({ version: '3', tools: [] })
    expect(await waits).toBe('3')
    await one.client.close()
  })

  it('responds with an error when the server does not start in time, and goes on with the next change', async () => {
    const one = await record('--watch', 'state.json', '--reload-timeout', '300ms')
    become('broken')
    await until('it has not come up', () => one.said().includes('did not start'))
    await expect(one.call('version')).rejects.toThrow('the server is still starting')
    become({ version: '3', tools: [] })
    await untilVersion(one, '3')
    await one.client.close()
  })

  it('cancels a request of the old process, and passes no late response to the new one', async () => {
    const actor = stage.start(stage.record(changing(), ['--watch', '*.json']), { cwd: stage.folder })
    const say = (message: object): Promise<void> =>
      actor.send(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    const ask = { method: 'tools/call', params: { name: 'ask' } }
    await say({
      id: 1,
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        capabilities: { roots: {} },
        clientInfo: { name: 'a', version: '1' },
      },
    })
    await say({ method: 'notifications/initialized' })
    await say({ id: 2, ...ask })
    await printed(actor, '"roots/list"')
    become({ version: '2', tools: [] })
    await printed(actor, '"notifications/cancelled"')
    await say({ id: 0, result: { roots: [{ uri: 'file:///old' }] } })
    await say({ id: 3, ...ask })
    await until('it asks again', () => actor.stdout().toString().split('"roots/list"').length === 3)
    await say({ id: 0, result: { roots: [{ uri: 'file:///new' }] } })
    await printed(actor, '"id":3')
    expect(actor.stdout().toString()).toContain('file:///new')
    expect(actor.stdout().toString()).not.toContain('file:///old')
    expect(actor.stderr().toString()).toContain(
      'a response of the client to the old process was not forwarded',
    )
    actor.stdin.end()
    expect(await actor.ended).toMatchObject({ exitCode: 0 })
  })

  it('ends with its client, with the status of the server, also while the server is down', async () => {
    const actor = stage.start(stage.record(changing(), ['--watch', '*.json']), { cwd: stage.folder })
    await until('it runs', () => actor.stderr().includes('this is 1'))
    become('broken')
    await until('it is down', () => actor.stderr().includes('the server ended (exit 3)'))
    actor.stdin.end()
    expect(await actor.ended).toMatchObject({ exitCode: 3 })
  })
})

describe('wiretape reload', () => {
  it('names capabilities that the new process lacks, and keeps the old one with --strict-reload', async () => {
    const lacking = { version: '2', tools: [], capabilities: { tools: {} } }
    const lax = await record('--reloadable', '--label', 'lax')
    const strict = await record('--reloadable', '--strict-reload', '--label', 'strict')
    become(lacking)
    expect(await cli('reload', 'lax')).toMatchObject({ code: 0 })
    expect(await lax.call('version')).toBe('2')
    const { code, stderr } = await cli('reload', 'strict')
    expect(code).toBe(1)
    expect(stderr).toContain('the old process stays, because the new one is incompatible')
    expect(stderr).toContain('it no longer has the capability resources')
    expect(await strict.call('version')).toBe('1')
    await Promise.all([lax.client.close(), strict.client.close()])
    const [tape] = stage.tapes()
    expect((await cli('inspect', tape!)).stdout).toContain(
      'the client still has the old value: it no longer has the capability tools.listChanged',
    )
  })

  it('refuses a capture that cannot restart its server', async () => {
    const one = await record('--label', 'plain')
    expect(await cli('reload')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('this capture cannot restart its server'),
    })
    expect(await one.call('version')).toBe('1')
    await one.client.close()
  })
})
