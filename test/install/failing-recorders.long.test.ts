/** What would keep a client from working, or an entry from being taken out again, is left alone or made to work. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { cli, server } from '../behaviour/stage.js'
import { plainEnv, run, wiretape, type Run } from '../behaviour/run-cli.js'

let home = ''
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'wiretape-home-'))
  mkdirSync(join(home, 'project'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

function put(path: string, value: unknown): string {
  const file = join(home, path)
  mkdirSync(dirname(file), { recursive: true })
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  writeFileSync(file, text)
  return text
}

function get(path: string): string {
  return readFileSync(join(home, path), 'utf8')
}

function env(): NodeJS.ProcessEnv {
  const { XDG_CONFIG_HOME: _config, XDG_DATA_HOME: _data, CLAUDE_CONFIG_DIR: _claude, ...rest } = plainEnv()
  return { ...rest, HOME: home }
}

function cliIn(folder: string, ...args: string[]): Promise<Run> {
  return wiretape(args, { cwd: join(home, folder), env: env() })
}

const [command, ...args] = server('mini-mcp.mjs')
const mini = { command, args }

describe('wiretape install', () => {
  it('starts the server unrecorded when there can be no recording', async () => {
    put('.cursor/mcp.json', { mcpServers: { mini } })
    await cliIn('project', 'install', '--all')
    put('.local/share/wiretape/recordings', 'a file in the way')
    const { mcpServers } = JSON.parse(get('.cursor/mcp.json')) as { mcpServers: { mini: typeof mini } }
    const { mini: entry } = mcpServers
    const input = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    for (const more of [[], ['--option-of-a-later-version']]) {
      const words = [entry.command!, entry.args[0]!, ...more, ...entry.args.slice(1)]
      const { code, stdout, stderr } = await run(words, { input, env: env() })
      expect({ code, answer: JSON.parse(stdout) }).toMatchObject({ code: 0, answer: { id: 1, result: {} } })
      expect(stderr).toMatch(/^wiretape: .*\(nothing is recorded\)\n$/)
    }
    // The same command typed by a person fails.
    const typed = await run([process.execPath, cli, ...entry.args], { input, env: env() })
    expect(typed).toMatchObject({ code: 1, stdout: '' })
  })
})
