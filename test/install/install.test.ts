import { cpSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { cli } from '../behaviour/stage.js'
import { run, wiretape, type Run } from '../behaviour/run-cli.js'
import { mini, useHome } from './home.js'

// A space in the path of what is installed.
const { home, put, get, env, cliIn } = useHome('wiretape home ')

interface Entry {
  readonly command: string
  readonly args: string[]
  readonly env?: Record<string, string>
}

function entry(path: string, name: string): Entry {
  return (JSON.parse(get(path)) as { mcpServers: Record<string, Entry> }).mcpServers[name]!
}

const request = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n'

/** Starts an entry as a client does: with few variables and a short PATH. */
function start({ command, args, env: own = {} }: Entry): Promise<Run> {
  return run([command, ...args], { input: request, env: { HOME: home(), PATH: '/usr/bin:/bin', ...own } })
}

describe('wiretape install', () => {
  it('records a server that its client starts, and uninstall restores the file', async () => {
    const before = put('.cursor/mcp.json', { mcpServers: { mini: { ...mini, env: { A: 'b' } } } })
    const installed = await cliIn('project', 'install', '--all')
    expect(installed).toMatchObject({ code: 0, stderr: '' })
    expect(installed.stdout).toContain('+ mini  recorded')
    const { stdout, code } = await start(entry('.cursor/mcp.json', 'mini'))
    expect({ code, answer: JSON.parse(stdout) }).toMatchObject({ code: 0, answer: { id: 1, result: {} } })
    const status = JSON.parse((await cliIn('project', 'status', '--json')).stdout)
    expect(status.servers).toMatchObject([
      {
        client: 'cursor',
        server: 'mini',
        recorded: true,
        live: false,
        recordings: 1,
        command: [mini.command, ...mini.args],
      },
    ])
    await cliIn('project', 'uninstall', '--all')
    expect(get('.cursor/mcp.json')).toBe(before)
  })

  it('starts the server unrecorded, with one line, once wiretape is gone', async () => {
    put('.cursor/mcp.json', { mcpServers: { mini } })
    // A copy of the program that can be removed.
    const copy = join(home(), 'copy')
    for (const name of ['dist', 'package.json', 'node_modules'])
      if (name === 'node_modules') symlinkSync(join(dirname(cli), '../../node_modules'), join(copy, name))
      else cpSync(join(dirname(cli), '../..', name), join(copy, name), { recursive: true })
    const program = join(copy, 'dist/bin/wiretape.js')
    await run([process.execPath, program, 'install', '--all'], { cwd: home(), env: env() })
    const wrapped = entry('.cursor/mcp.json', 'mini')
    expect((await start(wrapped)).stderr).toBe('')
    rmSync(copy, { recursive: true })
    const without = await start(wrapped)
    expect(JSON.parse(without.stdout)).toMatchObject({ id: 1, result: {} })
    expect(without.stderr.split('\n')).toHaveLength(2)
    expect(without.stderr).toContain('runs unrecorded')
    // Another copy of wiretape takes the entry out again, without the ledger too.
    rmSync(join(home(), '.local'), { recursive: true })
    await cliIn('project', 'uninstall', '--all')
    expect(entry('.cursor/mcp.json', 'mini')).toEqual(mini)
  })

  it('makes a bridge of a remote server, with the values of headers in the environment', async () => {
    const seen: string[] = []
    const upstream = http.createServer((req, res) => {
      seen.push(String(req.headers.authorization))
      req.resume().on('end', () => {
        if (req.url === '/login') return void res.writeHead(401).end()
        res.writeHead(200, { 'content-type': 'application/json' })
        res.end('{"jsonrpc":"2.0","id":1,"result":{}}')
      })
    })
    await new Promise<void>((done) => upstream.listen(0, '127.0.0.1', done))
    const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
    const headers = { Authorization: 'Bearer s3cret-value' }
    const before = put('.cursor/mcp.json', {
      mcpServers: {
        far: { url: `${url}/mcp`, headers },
        login: { url: `${url}/login` },
        key: { url: `${url}/mcp?key=abc` },
      },
    })
    try {
      const { stdout } = await cliIn('project', 'install', 'cursor', '--all').then((refused) => {
        expect(refused.code).toBe(2)
        return cliIn('project', 'install', '--all')
      })
      expect(stdout).toContain('+ far  recorded')
      expect(stdout).toContain('- login  unchanged: it responds with 401')
      expect(stdout).toContain('- key  unchanged: its address may contain a secret')
      const wrapped = entry('.cursor/mcp.json', 'far')
      expect(wrapped.args.join(' ')).not.toContain('s3cret')
      expect(wrapped.env).toEqual({ WIRETAPE_HEADER_AUTHORIZATION: 'Bearer s3cret-value' })
      seen.length = 0
      const answered = await start(wrapped)
      expect(JSON.parse(answered.stdout)).toMatchObject({ id: 1, result: {} })
      expect(seen).toContain('Bearer s3cret-value')
      await cliIn('project', 'uninstall', '--all')
      expect(get('.cursor/mcp.json')).toBe(before)
    } finally {
      upstream.close()
    }
  })

  it('writes through a symbolic link, keeps the mode, and finds a file that two places name once', async () => {
    const before = put('dotfiles/mcp.json', { mcpServers: { mini } })
    mkdirSync(join(home(), '.cursor'))
    symlinkSync('../dotfiles/mcp.json', join(home(), '.cursor/mcp.json'))
    // The project is the home folder: both of Cursor's places are one file.
    const status = await wiretape(['status', '--json'], { cwd: home(), env: env() })
    expect(JSON.parse(status.stdout).servers).toHaveLength(1)
    await wiretape(['install', '--all'], { cwd: home(), env: env() })
    expect(get('dotfiles/mcp.json')).not.toBe(before)
    expect(statSync(join(home(), 'dotfiles/mcp.json')).mode & 0o777).toBe(0o644)
    expect(readdirSync(join(home(), 'dotfiles'))).toEqual(['mcp.json'])
    await wiretape(['uninstall', '--all'], { cwd: home(), env: env() })
    expect(get('dotfiles/mcp.json')).toBe(before)
  })

  it('changes nothing without a word that says what, and nothing with --dry-run', async () => {
    const before = put('.cursor/mcp.json', { mcpServers: { mini } })
    const unasked = await cliIn('project', 'install')
    expect(unasked).toMatchObject({ code: 2 })
    expect(unasked.stderr).toContain('--dry-run')
    const dry = await cliIn('project', 'install', '--dry-run')
    expect(dry.stdout).toContain('+        "record",')
    expect(get('.cursor/mcp.json')).toBe(before)
    const wrong = await cliIn('project', 'install', '--server', 'nosuch')
    expect(wrong.stderr).toContain('no client has the server nosuch')
  })

  it('leaves project files alone that git tracks, unless told otherwise', async () => {
    const before = put('project/.mcp.json', { mcpServers: { mini } })
    for (const words of [
      ['init', '-q'],
      ['add', '.mcp.json'],
    ])
      await run(['git', ...words], { cwd: join(home(), 'project'), env: env() })
    expect((await cliIn('project', 'install', '--all')).stdout).toContain('git tracks this file')
    expect(get('project/.mcp.json')).toBe(before)
    expect((await cliIn('project', 'install', '--all', '--tracked')).stdout).toContain('+ mini  recorded')
  })

  it('names the place of a fault in a file, and leaves the others to be installed', async () => {
    put('.cursor/mcp.json', '{"mcpServers": {"a": }')
    put('.kiro/settings/mcp.json', { mcpServers: { mini } })
    const { stdout } = await cliIn('project', 'install', '--all')
    expect(stdout).toContain('line 1, column 22')
    expect(stdout).toContain('+ mini  recorded')
  })
})
