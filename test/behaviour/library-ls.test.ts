/** `ls` over the recordings of a data folder: its output, and the names that it gives. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDataFolder, daysAgo, expectSchema, toolCall } from './data-folder.js'
import { plainEnv, wiretape } from './run-cli.js'
import { createStage, server } from './stage.js'

const data = createDataFolder()
afterAll(() => data.close())
const peers = { server: { name: 'shop-server', version: '3' }, client: { name: 'my-agent', version: '2' } }

beforeAll(() => {
  data.put('one.jsonl', { label: 'shop', at: daysAgo(20), ...peers, asked: [toolCall('find', {}, 'first')] })
  data.put('two.jsonl', { label: 'files', at: daysAgo(3), asked: [toolCall('read', {}, 'second')] })
  data.put('three.jsonl', { label: 'shop', at: daysAgo(1), ...peers, asked: [toolCall('find', {}, 'third')] })
  const odd = { label: 'an odd label', session: 'fedcba98-0000-4000-8000-000000000000' }
  data.put('four.jsonl', { ...odd, at: daysAgo(0.1), asked: [toolCall('find', {}, 'fourth')] })
})

interface Row {
  readonly name: string
  readonly files: readonly string[]
  readonly server: object | null
  readonly client: object | null
  readonly errors: number | null
}

async function ls(...args: string[]): Promise<Row[]> {
  const { stdout, stderr, code } = await data.run('ls', ...args, '--json')
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
  expectSchema('ls', JSON.parse(stdout))
  return JSON.parse(stdout) as Row[]
}

describe('ls of the data folder', () => {
  it('gives each recording a name that every command takes', async () => {
    const rows = await ls()
    expect(rows.map(({ name }) => name)).toEqual(['shop~1', 'files', 'shop', 'fedcba98'])
    for (const [i, word] of ['first', 'second', 'third', 'fourth'].entries()) {
      const { stdout } = await data.run('inspect', '-v', rows[i]!.name)
      expect(stdout).toContain(word)
    }
  })

  it('prints names, ages, servers, clients and totals, the file last', async () => {
    const { stdout } = await data.run('ls')
    const lines = stdout.split('\n')
    expect(lines[0]).toMatch(
      /^state +started \(UTC\) +age +name +label +server +client +messages +duration +size +file$/,
    )
    expect(lines[1]).toMatch(
      /^ {2}complete .* 20d +shop~1 +shop +shop-server 3 +my-agent 2 +4 .* one\.jsonl$/,
    )
    expect(lines[5]).toMatch(/^4 recordings, 12 messages, [\d.]+ kB in .*recordings$/)
  })

  it('lists only those of a time range and a server', async () => {
    expect((await ls('--since', '7d')).map(({ name }) => name)).toEqual(['files', 'shop', 'fedcba98'])
    expect((await ls('--server', 'SHOP-s')).map(({ name }) => name)).toEqual(['shop~1', 'shop'])
    expect((await ls('--server', 'files', '--since', '7d')).map(({ name }) => name)).toEqual(['files'])
    expect((await data.run('ls', '--server', 'nobody')).stdout).toBe('None of 4 recordings matches.\n')
    expect((await data.run('ls', '--since', 'soon')).stderr).toMatch(/^wiretape: --since soon is not a time/)
    const { stdout } = await data.run('ls', '--jsonl', '--server', 'shop')
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as Row).server),
    ).toEqual([peers.server, peers.server])
  })

  it('names recordings of another folder by their path', async () => {
    const rows = await ls(data.recordings)
    expect(rows.map(({ name }) => name)).toContain('shop')
    const { stdout } = await wiretape(['ls', 'wiretape/recordings', '--json'], {
      cwd: data.home,
      env: plainEnv({ XDG_DATA_HOME: join(data.home, 'elsewhere') }),
    })
    expect((JSON.parse(stdout) as Row[])[0]!.name).toBe('wiretape/recordings/one.jsonl')
  })

  it('counts the errors that the recorder saw, and says when they were not counted', async () => {
    const stage = createStage()
    try {
      const actor = stage.start(stage.record(server('mini-mcp.mjs')))
      await actor.send(
        '{"jsonrpc":"2.0","id":1,"method":"ping"}\n{"jsonrpc":"2.0","id":2,"method":"no/such"}\n',
      )
      actor.stdin.end()
      await actor.ended
      const [tape] = stage.tapes()
      const list = async (): Promise<Row[]> =>
        JSON.parse((await wiretape(['ls', stage.out, '--json'])).stdout)
      expect(await list()).toMatchObject([{ errors: 1, messages: 4 }])
      const text = readFileSync(tape!, 'utf8')
      writeFileSync(tape!, text.slice(0, text.trimEnd().lastIndexOf('\n') + 1))
      appendFileSync(
        tape!,
        `${JSON.stringify({ t: new Date().toISOString(), type: 'end', exitCode: 0, durationMs: 1 })}\n`,
      )
      expect(await list()).toMatchObject([{ errors: null, messages: null }])
    } finally {
      await stage.close()
    }
  })
})
