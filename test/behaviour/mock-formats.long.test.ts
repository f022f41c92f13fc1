import { writeFileSync } from 'node:fs'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { describe, expect, it } from 'vitest'
import { wiretape } from './run-cli.js'
import { cli, server, useStage } from './stage.js'

const stage = useStage()

/** Uses a server of 2025 with version 2 of the official client, which first asks for the server's era. */
async function use(argv: readonly string[]): Promise<unknown[]> {
  const client = new Client({ name: 'c', version: '2' }, { versionNegotiation: { mode: 'auto' } })
  const transport = new StdioClientTransport({
    command: argv[0]!,
    args: argv.slice(1),
    env: stage.env as Record<string, string>,
    stderr: 'ignore',
  })
  await client.connect(transport)
  const call = (name: string, args: Record<string, unknown>): Promise<unknown> =>
    client.callTool({ name, arguments: args }).catch(String)
  const outcomes = [
    client.getServerVersion(),
    await client.listTools(),
    await call('echo', { text: 'ÅÄÖ 🎞' }),
    await call('echo', { text: 'again' }),
    await call('fail', {}),
    await call('tool-error', {}),
  ]
  await client.close()
  return outcomes
}

describe('mock of other formats', () => {
  it('serves a recording the same in every format that can be written and read', async () => {
    const real = await use(stage.record(server('mini-mcp.mjs')))
    expect(JSON.stringify(real)).toContain('This tool always fails')
    const tape = stage.tapes().at(-1)!
    expect(await use([process.execPath, cli, 'mock', tape])).toEqual(real)
    for (const format of ['session-json', 'jsonrpc', 'inspector', 'streamable-http', 'http-sse']) {
      const file = stage.path(`as-${format}`)
      const { code, stderr } = await wiretape(['convert', '--to', format, tape, file])
      expect({ format, code, stderr }).toMatchObject({ format, code: 0 })
      expect({ format, outcomes: await use([process.execPath, cli, 'mock', file]) }).toEqual({
        format,
        outcomes: real,
      })
    }
  })

  it('prints problems of the recording on stderr, and serves the rest of it', async () => {
    const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    writeFileSync(stage.path('broken.jsonl'), `${ping}{"jsonrpc":\n{"jsonrpc":"2.0","id":1,"result":{}}\n`)
    const { stdout, stderr } = await wiretape(['mock', 'broken.jsonl'], { cwd: stage.folder, input: ping })
    expect(stdout).toBe('{"jsonrpc":"2.0","id":1,"result":{}}\n')
    expect(stderr).toBe('wiretape: broken.jsonl, line 2, column 12: not valid JSON: unexpected end of text\n')
  })
})
