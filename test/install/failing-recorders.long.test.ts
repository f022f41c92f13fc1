/** Entries and recorders that would stop a client from working, or an entry from being removed. */
import { describe, expect, it } from 'vitest'
import { cli } from '../behaviour/stage.js'
import { run } from '../behaviour/run-cli.js'
import { mini, useHome } from './home.js'

const { put, get, env, cliIn } = useHome()

describe('wiretape install', () => {
  it('starts the server unrecorded when there can be no recording', async () => {
    put('.cursor/mcp.json', { mcpServers: { mini } })
    await cliIn('project', 'install', '--all')
    put('.local/share/wiretape/recordings', 'a file in the way')
    const { mcpServers } = JSON.parse(get('.cursor/mcp.json')) as { mcpServers: { mini: typeof mini } }
    const { mini: entry } = mcpServers
    const input = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    for (const more of [[], ['--option-of-a-later-version']]) {
      const words = [entry.command, entry.args[0]!, ...more, ...entry.args.slice(1)]
      const { code, stdout, stderr } = await run(words, { input, env: env() })
      expect({ code, answer: JSON.parse(stdout) }).toMatchObject({ code: 0, answer: { id: 1, result: {} } })
      expect(stderr).toMatch(/^wiretape: .*\(nothing is recorded\)\n$/)
    }
    // The same command typed by a person fails.
    const typed = await run([process.execPath, cli, ...entry.args], { input, env: env() })
    expect(typed).toMatchObject({ code: 1, stdout: '' })
  })
})
