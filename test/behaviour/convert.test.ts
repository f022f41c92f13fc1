import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cli } from './stage.js'
import { leftOut, runOnTerminal, wiretape, type Run } from './run-cli.js'

let folder = ''
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'wiretape-convert-'))))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const ask = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"n":1.0}}}'
const answer = '{"jsonrpc":"2.0","id":1,"result":{"content":[]}}'
const tape = (label: string, second: number): string =>
  [
    `{"v":1,"type":"meta","startedAt":"2026-08-01T10:00:0${second}.000Z","label":"${label}","command":["node","${label}"]}`,
    `{"t":"2026-08-01T10:00:0${second}.100Z","dir":"in","raw":${ask}}`,
    `{"t":"2026-08-01T10:00:0${second + 2}.200Z","dir":"out","raw":${answer}}`,
    `{"t":"2026-08-01T10:00:0${second + 2}.300Z","type":"end","exitCode":0,"durationMs":2300}`,
    '',
  ].join('\n')

function file(name: string, content: string | Uint8Array): string {
  writeFileSync(join(folder, name), content)
  return name
}

async function run(...args: string[]): Promise<Run> {
  return wiretape(args, { cwd: folder })
}

describe('convert', () => {
  it('merges several recordings by time', async () => {
    file('a.jsonl', tape('a', 0))
    file('b.jsonl.gz', gzipSync(tape('b', 1)))
    expect(await run('convert', 'a.jsonl', 'b.jsonl.gz', 'both.jsonl')).toEqual({
      code: 0,
      stdout: 'both.jsonl: 4 messages, trace-v1\n',
      stderr: expect.stringContaining('2 servers in one file (a, b)'),
    })
    const shown = (await run('inspect', 'both.jsonl')).stdout
    expect(shown).toContain('a + b')
    expect(shown).toMatch(/^merged: a · started 2026-[\d-]+ [\d:.]+Z · \w+.*$/m)
    expect(shown).toMatch(/^merged: b · started /m)
    expect(shown).not.toContain('{"conversation"')
    expect(shown.match(/^ +\d .*$/gm)?.map((line) => line.slice(5, 26).trim())).toEqual([
      '0.100  1',
      '1.100  1',
      '2.200  1     2.1 s',
      '3.200  1     2.1 s',
    ])
    expect(shown).toContain('no faults')
  })

  it.each(['har', 'otlp-json', 'otlp-proto', 'markdown', 'html', 'assay-trace'])(
    'to %s reports lines that could not be read',
    async (to) => {
      const [meta, asked, answered] = tape('a', 0).split('\n')
      file('broken.jsonl', `${meta}\n${asked}\n{"t":\n${answered}\n`)
      const { stderr } = await run('convert', '--force', '--to', to, 'broken.jsonl', `broken.${to}`)
      expect(stderr).toContain('wiretape: broken.jsonl, line 3')
      expect(stderr.match(/line 3/g)).toHaveLength(1)
      expect(stderr.match(/^wiretape: broken\.jsonl: no end line/gm)).toHaveLength(1)
    },
  )

  it('merges recordings of different transports, which a filter still tells apart', async () => {
    file('a.jsonl', tape('a', 0))
    const entries = `[{"timestamp_ms":1,"request":${ask}},{"timestamp_ms":2,"response":${answer}}]`
    file('web.json', `{"transport":"streamable-http","entries":${entries}}`)
    await run('convert', 'a.jsonl', 'web.json', 'mixed.jsonl')
    for (const transport of ['stdio', 'streamable-http']) {
      const { stdout } = await run('inspect', 'mixed.jsonl', '--filter', `transport:${transport}`)
      expect(stdout).toContain(`2 of 4 rows: over ${transport}`)
    }
  })

  it('with --strict exits 1 when something is lost, and has written it all the same', async () => {
    file('a.jsonl', tape('a', 0))
    const lossy = await run('convert', '--strict', '--to', 'jsonrpc', 'a.jsonl', 'a.lines')
    expect([lossy.code, lossy.stderr]).toEqual([
      1,
      'wiretape: a.lines: times and directions of messages are left out: 2\n',
    ])
    expect(readFileSync(join(folder, 'a.lines'), 'utf8')).toBe(`${ask}\n${answer}\n`)
    expect((await run('convert', '--strict', 'a.jsonl', 'a.json')).code).toBe(0)
  })

  it('counts the messages that it wrote', async () => {
    file(
      'twice.jsonl',
      `${ask.replace('"id":1', '"id":1,"id":1')}\n${answer}\n${ask.replace('"id":1', '"id":2')}\n`,
    )
    const { stdout, stderr } = await run('convert', '--to', 'http-sse', 'twice.jsonl', 'twice.sse')
    expect(stdout).toBe('twice.sse: 1 message, http-sse\n')
    expect(stderr).toContain('message 0 is left out: it has a repeated member\n')
  })

  it('converts stdin to stdout, and detects the input format', async () => {
    const { stdout, code } = await wiretape(['convert', '--to', 'inspector', '-', '-'], {
      input: `${ask}\n${answer}\n`,
    })
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject([{ direction: 'request', response: { id: 1 } }])
  })

  it('does not invent times for messages without times', async () => {
    const { stdout } = await wiretape(['inspect', '-'], { input: `${ask}\n${answer}\n` })
    expect(stdout).toMatch(/^jsonrpc\nno times recorded\n/)
    expect(stdout).not.toContain('answered in')
  })

  it('writes nothing when the input is none', async () => {
    file('none.json', '{"hello":1}')
    const { code, stderr } = await run('convert', 'none.json', 'out.json')
    expect([code, existsSync(join(folder, 'out.json'))]).toEqual([2, false])
    expect(stderr).toMatch(/^wiretape: none.json is not a recording: .*\n$/)
  })

  it.each(['har', 'otlp-json', 'markdown', 'assay-trace', 'csv'])(
    'reports the unread part of a damaged recording, writing %s',
    async (format) => {
      const [meta, asked, answered] = tape('a', 0).split('\n')
      file('damaged.jsonl', `${meta}\n${asked}\nbroken {\n${answered}\n`)
      const { stderr } = await run('convert', '--force', '--to', format, 'damaged.jsonl', 'damaged.out')
      expect(stderr.match(/damaged\.jsonl, line 3/g)).toHaveLength(1)
      expect(stderr.match(/damaged\.jsonl: no end line/g)).toHaveLength(1)
    },
  )

  it('shows its progress on a terminal', async () => {
    if (leftOut(process.platform === 'linux', 'no script command')) return
    const line = `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"${'x'.repeat(2000)}"}}\n`
    file('long.lines', line.repeat(5_000))
    // The reader pauses after the first byte, so that the conversion lasts a second on any machine.
    const command = `'${process.execPath}' '${cli}' convert --to csv long.lines -`
    const { stdout } = await runOnTerminal(
      ['sh', '-c', `${command} | { head -c 1; sleep 1.5; wc -l; }`],
      100,
      { cwd: folder },
    )
    expect(stdout).toMatch(/\r[█░]{20} +\d+ % of 10 MB {2}long\.lines/)
    expect(stdout).toContain('\r\u001b[K')
    expect(stdout).toMatch(/5001$/m)
  })
})
