import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { describe, expect, it } from 'vitest'
import { plainEnv, wiretape } from './run-cli.js'
import { printed, until } from './stage.js'
import { talk, untilVersion, useReload } from './reload-stage.js'

const { stage, become, changing, cli, record } = useReload()

describe('record --watch', () => {
  it('starts the server again behind the pipe of its client when a file changes', async () => {
    const one = await record('--watch', '*.json')
    const { client } = one
    await client.setLoggingLevel('warning')
    await client.subscribeResource({ uri: 'demo://a' })
    await client.subscribeResource({ uri: 'demo://b' })
    await client.unsubscribeResource({ uri: 'demo://a' })
    await client.listTools()
    const hangs = client.callTool({ name: 'hang' }).catch((error: Error) => error.message)
    become({ version: '2', tools: ['heard', 'version', 'more'] })
    expect(await hangs).toContain('the server restarted before it responded')
    expect(await one.call('version')).toBe('2')
    await until('the list is announced', () => one.changes() === 1)
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('more')
    expect(await one.call('heard')).toEqual([
      'initialize',
      'notifications/initialized',
      'logging/setLevel',
      'resources/subscribe demo://b',
      'tools/list',
      'tools/call',
      'tools/list',
      'tools/call',
    ])
    await client.close()
    const shown = (await cli('inspect', stage.tape())).stdout
    expect(shown).toMatch(/error of #\d+ tools\/call hang · sent by wiretape/)
    expect(shown).toContain('notifications/tools/list_changed · sent by wiretape')
    expect(shown).toContain('1 server restart')
    expect(shown).toContain('changed: tools/list')
    const { stdout } = await cli('explain', stage.tape())
    expect(stdout).toContain('tools/call hang: wiretape answered, not the server.')
  })

  it('ends by a signal that comes while the server is replaced, and leaves no process behind', async () => {
    const slow = ['sh', '-c', 'echo begins >&2; cat; echo leaves >&2; sleep 1']
    const actor = stage.start(stage.record(slow, ['--watch', '*.json']), { cwd: stage.folder })
    await until('it runs', () => actor.stderr().includes('begins'))
    become({ version: '2', tools: [] })
    await until('the old process ends', () => actor.stderr().includes('leaves'))
    actor.child.kill('SIGTERM')
    await actor.ended
    expect(actor.stderr().toString().split('begins').length).toBeLessThanOrEqual(3)
  })
})

describe('wiretape reload', () => {
  it('starts the server of a capture again', async () => {
    const one = await record('--reloadable', '--label', 'shop')
    become({ version: '2', tools: ['heard'] })
    expect(await one.call('version')).toBe('1')
    expect(await cli('reload', 'shop')).toMatchObject({ code: 0, stdout: 'shop: restarted\n' })
    expect(await one.call('version')).toBe('2')
    become('broken')
    expect(await cli('reload')).toMatchObject({
      code: 1,
      stderr: 'wiretape: shop: the server did not start (exit 3)\n',
    })
    become({ version: '4', tools: [] })
    expect(await cli('reload')).toMatchObject({ code: 0 })
    expect(await one.call('version')).toBe('4')
    await one.client.close()
  })

  it('keeps the sessions of HTTP clients', async () => {
    const actor = stage.start(
      stage.record(changing(), ['--listen', '127.0.0.1:0', '--reloadable', '--watch', '*.json']),
      { cwd: stage.folder },
    )
    await printed(actor, '/mcp')
    const one = await talk(new StreamableHTTPClientTransport(new URL(actor.stdout().toString().trim())))
    await one.client.listTools()
    const hangs = one.client.callTool({ name: 'hang' }).catch((error: Error) => error.message)
    become({ version: '2', tools: ['more'] })
    expect(await hangs).toContain('the server restarted before it responded')
    expect(await one.call('version')).toBe('2')
    await until('the list is announced', () => one.changes() === 1)
    become({ version: '3', tools: ['more'] })
    await untilVersion(one, '3')
    await one.client.close()
    actor.child.kill('SIGTERM')
    expect(await actor.ended).toMatchObject({ exitCode: 0 })
    const { stdout } = await cli('inspect', stage.tape())
    expect(stdout).toMatch(/[12] server restarts?/)
    expect(stdout).toMatch(/error of #\d+ tools\/call hang · sent by wiretape/)
    expect((await cli('explain', stage.tape())).stdout).toContain('hang: wiretape answered, not the server.')
  })
})

describe('options of reload', () => {
  it.each([
    [['--watch', 'a', '--url', 'http://127.0.0.1:1/mcp'], '--watch requires a command'],
    [['--reload-timeout', '3s', '--', 'true'], '--reload-timeout requires --watch or --reloadable'],
    [['--strict-reload', '--', 'true'], '--strict-reload requires --watch or --reloadable'],
    [['--watch', 'a', '--reload-timeout', 'soon', '--', 'true'], 'Use a time such as'],
  ])('refuses %j', async (args, why) => {
    const where = { cwd: stage.folder, env: plainEnv(stage.env) }
    const refused = await wiretape(['record', ...args], { ...where, isRefused: true })
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(why) })
  })
})
