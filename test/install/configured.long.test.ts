import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { strToU8, zipSync } from 'fflate'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { server } from '../behaviour/stage.js'
import { plainEnv, run, wiretape, type Run } from '../behaviour/run-cli.js'

let home = ''
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'wiretape-config-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

function put(path: string, value: string | Uint8Array): void {
  mkdirSync(dirname(join(home, path)), { recursive: true })
  writeFileSync(join(home, path), value)
}

const [command, ...args] = server('mini-mcp.mjs')
const ping = '{"jsonrpc":"2.0","id":7,"method":"ping"}\n'

function record(config: string, more: string[] = [], env: NodeJS.ProcessEnv = {}): Promise<Run> {
  return wiretape(['record', '--out', 'tapes', '--config', config, ...more], {
    cwd: home,
    input: ping,
    env: { ...plainEnv(), HOME: home, ...env },
  })
}

function tapeText(): string {
  const [name] = readdirSync(join(home, 'tapes'))
  return readFileSync(join(home, 'tapes', name!), 'utf8')
}

describe('record --config', () => {
  it.each([
    ['mcp.json', JSON.stringify({ mcpServers: { mini: { command, args } } })],
    [
      'vscode.json',
      `{ // of VS Code\n"servers": {"mini": {"type": "stdio", "command": ${JSON.stringify(command)}, "args": ${JSON.stringify(args)}}}}`,
    ],
    [
      'config.toml',
      `[mcp_servers.mini]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n`,
    ],
    [
      'config.yaml',
      `extensions:\n  mini:\n    type: stdio\n    cmd: ${command}\n    args: ${JSON.stringify(args)}\n`,
    ],
    ['opencode.json', JSON.stringify({ mcp: { mini: { type: 'local', command: [command, ...args] } } })],
  ])('records the server that %s names', async (name, text) => {
    put(name, text)
    const { stdout, stderr, code } = await record(name)
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
    expect(JSON.parse(stdout)).toMatchObject({ id: 7, result: {} })
    expect(tapeText()).toContain('"label":"mini"')
  })

  it('gives the server the environment of its entry, with variables of ours put in', async () => {
    const source = `console.log(JSON.stringify({jsonrpc:'2.0',method:'x',params:[process.env.A, process.argv[1]]})); process.stdin.resume()`
    put(
      'mcp.json',
      JSON.stringify({
        mcpServers: { a: { command, args: ['-e', source, '${WORD}'], env: { A: '${WORD:-none}' } } },
      }),
    )
    expect((await record('mcp.json', [], { WORD: 'given' })).stdout).toContain('["given","given"]')
  })

  it('lists the configured servers', async () => {
    put('mcp.json', JSON.stringify({ mcpServers: { one: { command }, two: { command } } }))
    const { stderr, code } = await record('mcp.json', ['--server', 'three'])
    expect(code).toBe(2)
    expect(stderr).toContain('one, two')
    expect((await record('mcp.json')).stderr).toContain('mcp.json has 2 servers')
    expect((await record('nothing.json')).stderr).toContain('no such file')
  })

  it('unpacks and records an MCP bundle, and leaves nothing of it behind', async () => {
    const manifest = {
      manifest_version: '0.3',
      name: 'bundled',
      server: {
        type: 'node',
        entry_point: 'server/mini-mcp.mjs',
        mcp_config: {
          command,
          args: ['${__dirname}/server/mini-mcp.mjs'],
          env: { KEY: '${user_config.api_key}' },
        },
      },
      user_config: { api_key: { type: 'string', required: true } },
    }
    const source = (name: string): Uint8Array =>
      readFileSync(resolve(import.meta.dirname, '../fixtures/servers', name))
    put(
      'x.mcpb',
      zipSync({
        'manifest.json': strToU8(JSON.stringify(manifest)),
        'server/mini-mcp.mjs': source('mini-mcp.mjs'),
        'server/json-lines.mjs': source('json-lines.mjs'),
      }),
    )
    const temporary = join(home, 'tmp')
    mkdirSync(temporary)
    const missing = await record('x.mcpb', [], { TMPDIR: temporary })
    expect(missing.stderr).toContain('it needs values for API_KEY')
    const { stdout, code } = await record('x.mcpb', [], { API_KEY: 'k', TMPDIR: temporary })
    expect({ code, answer: JSON.parse(stdout) }).toMatchObject({ code: 0, answer: { id: 7 } })
    expect(tapeText()).toContain('"label":"bundled"')
    expect(readdirSync(temporary)).toEqual([])
  })

  it('refuses a bundle with a file outside of its folder', async () => {
    const manifest = { name: 'x', server: { mcp_config: { command: 'node' } } }
    put('x.mcpb', zipSync({ 'manifest.json': strToU8(JSON.stringify(manifest)), '../../evil': strToU8('x') }))
    expect((await record('x.mcpb')).stderr).toContain('a file outside of its folder')
  })

  it('starts what an entry of the registry names', async () => {
    put(
      'server.json',
      JSON.stringify({
        name: 'io.example/mini',
        version: '1.0.0',
        packages: [
          {
            registryType: 'npm',
            identifier: '@example/mini',
            version: '1.2.3',
            runtimeHint: 'echo-args',
            packageArguments: [
              { type: 'positional', value: '/data' },
              { type: 'named', name: '--x', value: 'y' },
            ],
            environmentVariables: [{ name: 'NEEDED', isRequired: true }],
          },
        ],
      }),
    )
    expect((await record('server.json')).stderr).toContain('io.example/mini needs values for NEEDED')
    const { stderr } = await record('server.json', [], { NEEDED: 'x' })
    expect(stderr).toContain('cannot start "echo-args"')
    expect(tapeText()).toContain('["echo-args","-y","@example/mini@1.2.3","/data","--x","y"]')
  })
})

describe('wiretape completion', () => {
  it('completes commands, options and clients in bash', async () => {
    const { stdout } = await wiretape(['completion', 'bash'])
    const ask = (...words: string[]): string =>
      `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _wiretape; echo "\${COMPREPLY[*]}"`
    const script = `${stdout}\n${ask('wiretape', 'insp')}\n${ask('wiretape', 'record', '--sess')}\n${ask('wiretape', 'proxy', 'sta')}\n${ask('wiretape', 'install', 'claude-c')}`
    const answer = await run(['bash', '-c', script], { cwd: home })
    expect(answer).toMatchObject({ stderr: '', stdout: 'inspect\n--session-file\nstart\nclaude-code\n' })
  })

  const hasZsh = spawnSync('zsh', ['--version']).status === 0
  it.skipIf(!hasZsh)('completes options in zsh, and behind -- the words of another command', async () => {
    const { stdout } = await wiretape(['completion', 'zsh'])
    writeFileSync(join(home, '_wiretape'), stdout)
    const stand = '_describe() { print -rl -- ${(P)2}; }; _normal() { print -r -- "normal $CURRENT $words"; }'
    const complete = (words: string): Promise<Run> =>
      run(
        ['zsh', '-f', '-c', `${stand}; words=(${words}); CURRENT=$#words; PREFIX=$words[-1]; . ./_wiretape`],
        { cwd: home },
      )
    const options = await complete('wiretape install --')
    expect(options).toMatchObject({ code: 0, stderr: '' })
    expect(options.stdout).toContain('--keep:what installed recorders keep (default: 30d,2GB)\n')
    expect(await complete('wiretape record -- ls --al')).toMatchObject({
      stdout: 'normal 2 ls --al\n',
      stderr: '',
    })
  })

  it.each(['zsh', 'fish'])('names every command in %s', async (shell) => {
    const { stdout } = await wiretape(['completion', shell])
    const help = await wiretape(['--help'])
    const names = [...help.stdout.matchAll(/^ {2}([a-z]+) /gm)].map((match) => match[1]!)
    expect(names.length).toBeGreaterThan(15)
    for (const name of names.filter((each) => each !== 'wiretape')) expect(stdout).toContain(name)
  })
})
