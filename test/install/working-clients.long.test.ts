/**
 * Entries that would stop a client from working, or that `uninstall` could not restore, are left alone or made to work.
 */
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { findClients, openLedger, planInstall, planUninstall } from '../../src/clients/index.js'
import { cli } from '../behaviour/stage.js'
import { run, runOnTerminal } from '../behaviour/run-cli.js'
import { mini, useHome } from './home.js'

const { home, put, get, env, cliIn } = useHome()

describe('wiretape install', () => {
  it('leaves entries as they are whose command or login would not survive', async () => {
    const before = put('.cursor/mcp.json', {
      mcpServers: {
        line: { command: 'npx -y some-server' },
        ours: { command: 'npx', args: ['-y', 'wiretape', 'record', '--', 'node', 'x.js'] },
      },
    })
    const toml = put(
      '.codex/config.toml',
      '[mcp_servers.far]\nurl = "http://127.0.0.1:9/mcp"\nbearer_token_env_var = "TOKEN"\n',
    )
    const { stdout } = await cliIn('project', 'install', '--all')
    expect(stdout).toContain('- line  unchanged: its command is a shell command line')
    expect(stdout).toContain('- ours  unchanged: it already starts wiretape record')
    expect(stdout).toContain('- far  unchanged: its login is in bearer_token_env_var')
    expect(get('.cursor/mcp.json')).toBe(before)
    expect(get('.codex/config.toml')).toBe(toml)
    expect(await cliIn('project', 'install', '--all', '--keep', 'long')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^wiretape: .*such as 30d,2GB.*\n$/),
    })
  })

  it('--tag-key gives recorders one key in the data folder, and goes without a trace', async () => {
    const before = put('.cursor/mcp.json', { mcpServers: { one: { command: 'node', args: ['x.js'] } } })
    expect(await cliIn('project', 'install', '--all', '--tag-key')).toMatchObject({ code: 0 })
    const { args } = (JSON.parse(get('.cursor/mcp.json')) as { mcpServers: { one: { args: string[] } } })
      .mcpServers.one
    expect(args[args.indexOf('--tag-key') + 1]).toMatch(/tags\.key$/)
    await cliIn('project', 'uninstall', '--all')
    expect(get('.cursor/mcp.json')).toBe(before)
  })

  it('takes no refusal for a login when only the client knows the value of a header', async () => {
    const upstream = http.createServer((req, res) => {
      req.resume().on('end', () => res.writeHead(401).end())
    })
    await new Promise<void>((done) => upstream.listen(0, '127.0.0.1', done))
    try {
      const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/mcp`
      put('.config/Code/User/mcp.json', {
        inputs: [{ id: 'token', type: 'promptString' }],
        servers: {
          asks: { type: 'http', url, headers: { Authorization: 'Bearer ${input:token}' } },
          logs: { type: 'http', url },
        },
      })
      const { stdout } = await cliIn('project', 'install', '--all')
      expect(stdout).toContain('+ asks  recorded')
      expect(stdout).toContain('- logs  unchanged: it responds with 401')
    } finally {
      upstream.close()
    }
  })

  it('installs into a file that several clients share, and takes it out once', async () => {
    const before = put('project/.vscode/mcp.json', { servers: { mini } })
    const kiro = put('.kiro/settings/mcp.json', { mcpServers: { mini } })
    mkdirSync(join(home(), '.cursor'))
    symlinkSync('../.kiro/settings/mcp.json', join(home(), '.cursor/mcp.json'))
    const { stdout } = await cliIn('project', 'install', '--all')
    expect(stdout).not.toContain('unchanged')
    expect(get('project/.vscode/mcp.json').match(/wiretape-launcher/g)).toHaveLength(1)
    expect(get('.kiro/settings/mcp.json').match(/wiretape-launcher/g)).toHaveLength(1)
    await cliIn('project', 'uninstall', '--all')
    expect(get('project/.vscode/mcp.json')).toBe(before)
    expect(get('.kiro/settings/mcp.json')).toBe(kiro)
  })

  it('is undone in every project, from whichever folder', async () => {
    const folders = ['project', 'other project']
    const before = folders.map((folder) => put(`${folder}/.cursor/mcp.json`, { mcpServers: { mini } }))
    const local = put('.claude.json', {
      projects: { [join(home(), 'project')]: { mcpServers: { mini } } },
    })
    for (const folder of folders) await cliIn(folder, 'install', '--all')
    const { servers } = JSON.parse((await cliIn('.', 'status', '--json')).stdout) as {
      servers: { recorded: boolean }[]
    }
    expect(servers.map(({ recorded }) => recorded)).toEqual([true, true, true])
    await cliIn('.', 'uninstall', '--all')
    expect(folders.map((folder) => get(`${folder}/.cursor/mcp.json`))).toEqual(before)
    expect(get('.claude.json')).toBe(local)
  })

  it('leaves a client alone whose servers are allowed or denied by command and address', async () => {
    const before = put('.claude.json', { mcpServers: { mini } })
    await cliIn('project', 'install', '--all')
    put('.claude/settings.json', { deniedMcpServers: [{ serverUrl: 'https://*.example.com/*' }] })
    // Taking out is always possible.
    await cliIn('project', 'uninstall', '--all')
    expect(get('.claude.json')).toBe(before)
    expect((await cliIn('project', 'install', '--all')).stdout).toContain('settings.json controls which')
    expect(get('.claude.json')).toBe(before)
    put('.claude/settings.json', { model: 'some' })
    expect((await cliIn('project', 'install', '--all')).stdout).toContain('+ mini  recorded')
  })

  it('leaves a read-only file as it is and says so', async () => {
    const before = put('.cursor/mcp.json', { mcpServers: { mini } })
    chmodSync(join(home(), '.cursor/mcp.json'), 0o444)
    const { code, stdout } = await cliIn('project', 'install', '--all')
    expect({ code, stdout }).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('unchanged: it is read-only'),
    })
    expect(get('.cursor/mcp.json')).toBe(before)
  })

  it('keeps the originals of two installs that run at once', async () => {
    const folder = join(home(), 'data')
    const entry = { file: '/f', servers: ['mcpServers'], client: 'c', original: 'o', wrapped: 'w', at: 'a' }
    const [one, two] = [await openLedger(folder), await openLedger(folder)]
    one.put({ ...entry, name: 'one' })
    two.put({ ...entry, name: 'two' })
    await one.save()
    await two.save()
    const later = await openLedger(folder)
    expect(['one', 'two'].map((name) => later.find('/f', ['mcpServers'], name)?.name)).toEqual(['one', 'two'])
  })

  it('changes nothing when the question is answered with no answer', async () => {
    const before = put('.cursor/mcp.json', { mcpServers: { mini } })
    const asked = await runOnTerminal([process.execPath, cli, 'install'], 80, {
      cwd: join(home(), 'project'),
      env: env(),
      input: '\u0004',
    })
    expect(asked.stdout).toContain('Continue? [y/N]')
    expect(asked.stdout).not.toContain('Error')
    expect(asked.code).toBe(0)
    expect(get('.cursor/mcp.json')).toBe(before)
    expect(existsSync(join(home(), '.local/share/wiretape/installed.json'))).toBe(false)
  })
})

describe('machine output', () => {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false, allErrors: true })
  /** Complaints of the published schema; none when the output is as promised. */
  function complaints(name: string, text: string): string[] {
    const path = resolve(import.meta.dirname, `../../docs/schemas/${name}.schema.json`)
    const schema = JSON.parse(readFileSync(path, 'utf8')) as { $id: string }
    const validate = ajv.getSchema(schema.$id) ?? ajv.compile(schema)
    void validate(JSON.parse(text))
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
  }

  it('of status is as its schema says, for recorded, remote and odd entries and for faulty files', async () => {
    put('.cursor/mcp.json', { mcpServers: { mini, far: { url: 'http://127.0.0.1:9/mcp' }, odd: { x: 1 } } })
    put('.kiro/settings/mcp.json', '{')
    await cliIn('project', 'install', '--all')
    const { mcpServers } = JSON.parse(get('.cursor/mcp.json')) as { mcpServers: { mini: typeof mini } }
    await run([mcpServers.mini.command, ...mcpServers.mini.args], { env: env() })
    const { stdout } = await cliIn('project', 'status', '--json')
    const { servers, problems } = JSON.parse(stdout) as { servers: object[]; problems: object[] }
    expect(servers).toMatchObject([{ recordings: 1 }, { transport: 'remote' }, { transport: 'unknown' }])
    expect(problems).toHaveLength(1)
    expect(complaints('status', stdout)).toEqual([])
    expect(complaints('status', stdout.replace('"recordings": 1', '"recordings": "1"'))).not.toEqual([])
  })

  it('of doctor is as its schema says, sound or not', async () => {
    const sound = await cliIn('project', 'doctor', '--json', '--', mini.command, ...mini.args)
    const faulty = await cliIn(
      'project',
      'doctor',
      '--json',
      '--',
      process.execPath,
      '-e',
      'console.log(1 + "x")',
    )
    expect([sound.code, faulty.code]).toEqual([0, 1])
    expect(complaints('doctor', sound.stdout)).toEqual([])
    expect(complaints('doctor', faulty.stdout)).toEqual([])
    expect(complaints('doctor', faulty.stdout.replace('"advice"', '"advise"'))).not.toEqual([])
  })
})

describe('an entry of a client', () => {
  it('is recorded and examined in its working directory', async () => {
    put('.cursor/mcp.json', {
      mcpServers: { gone: { ...mini, cwd: '/no such folder' }, here: { ...mini, cwd: '${workspaceFolder}' } },
    })
    const config = join(home(), '.cursor/mcp.json')
    for (const words of [
      ['doctor', 'gone'],
      ['record', '--config', config, '--server', 'gone'],
    ])
      expect(await cliIn('project', ...words)).toMatchObject({
        code: 2,
        stderr: `wiretape: gone in ${config}: its working directory /no such folder is missing (correct its entry)\n`,
      })
    expect(await cliIn('project', 'doctor', 'here')).toMatchObject({ code: 0 })
  })
})

describe('a file of an administrator', () => {
  it.each([
    ['managed-mcp.json', '{"mcpServers": {}}', undefined],
    ['requirements.toml', '[mcp_servers.docs.identity]\ncommand = "docs"\n', ['mcp_servers']],
  ])('%s keeps install from the client, and not uninstall', async (name, text, rules) => {
    put(name, text)
    const places = { home: home(), cwd: home(), platform: 'linux', env: {} } as const
    put('.cursor/mcp.json', { mcpServers: { mini } })
    const [{ client }] = (await findClients(places, ['cursor'])) as [
      Awaited<ReturnType<typeof findClients>>[0],
    ]
    const managed = { ...client, managedBy: () => [{ path: join(home(), name), ...(rules && { rules }) }] }
    const found = await findClients(places, [], [], [managed])
    expect(found.map(({ managedBy }) => managedBy)).toEqual([join(home(), name)])
    const plan = await planInstall(found, {
      launcher: '/wiretape-launcher',
      keep: '30d',
      more: [],
      names: [],
      tracked: true,
      folder: home(),
      probe: async () => undefined,
      now: () => new Date(0),
    })
    expect(plan.servers.map(({ outcome }) => outcome)).toEqual(['left'])
    const undo = await planUninstall(found, await openLedger(join(home(), 'data')), [])
    expect(undo.servers.map(({ outcome }) => outcome)).toEqual(['same'])
  })
})
