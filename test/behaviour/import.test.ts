import {
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { wiretape, type Run } from './run-cli.js'

let folder = ''
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'wiretape-import-'))))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const lines =
  '{"timestamp_ms":1000,"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Calc","arguments":{"a":1}}}\n' +
  '{"timestamp_ms":1001,"jsonrpc":"2.0","id":1,"result":{"sum":3}}\n'
const legacy = `{"transport":"http-sse","entries":[${lines
  .trim()
  .replace('\n', ',')
  .replaceAll('{"timestamp_ms', '{"request":{"timestamp_ms')
  .replaceAll(/\}(,|$)/g, '}}$1')}]}`

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

async function run(...args: string[]): Promise<Run> {
  return wiretape(args, { cwd: folder })
}

describe('import', () => {
  it('writes the trace beside the input, and says what it did', async () => {
    file('a.b.jsonl', lines)
    const { code, stdout, stderr } = await run('import', 'a.b.jsonl', '--format', 'jsonrpc')
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout.split('\n')).toEqual([
      'Importing MCP transcript from: "a.b.jsonl"',
      'Parsed 2 MCP events.',
      'Generated 4 Assay V2 trace events.',
      'Trace written to: "a.b.trace.jsonl"',
      '',
    ])
    const trace = readFileSync(join(folder, 'a.b.trace.jsonl'), 'utf8')
    expect(trace).toContain('"episode_id":"a.b"')
    expect(statSync(join(folder, 'a.b.trace.jsonl')).mode & 0o777).toBe(0o600)
    expect((await run('import', '--format', 'jsonrpc', 'a.b.jsonl', '--out-trace', '-')).stdout).toBe(trace)
  })

  it('takes what is packed, and stdin', async () => {
    const plain = await wiretape(['import', '-', '--format', 'jsonrpc'], { input: lines })
    const packed = await wiretape(['import', '-', '--format', 'jsonrpc'], { input: gzipSync(lines) })
    expect(packed).toEqual(plain)
    expect(plain.stdout).toContain('"episode_id":"stdin"')
    file('p.jsonl.gz', gzipSync(lines))
    file('p.jsonl', lines)
    const named = ['--format', 'jsonrpc', '--out-trace', '-']
    expect(await run('import', 'p.jsonl.gz', ...named)).toMatchObject({
      code: 0,
      stdout: (await run('import', 'p.jsonl', ...named)).stdout,
    })
    for (const args of [[''], ['p.jsonl', '--out-trace', '']]) {
      expect(await run('import', ...args)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('no name'),
      })
    }
    file('cut.jsonl.gz', gzipSync(lines).subarray(0, 60))
    const cut = await run('import', 'cut.jsonl.gz', '--format', 'jsonrpc', '--out-trace', 'cut.out')
    expect(cut.code).toBe(2)
    expect(cut.stderr).toBe(
      'wiretape: cannot read cut.jsonl.gz: the packed data are cut off (gzip -t FILE or zstd -t FILE tells more)\n',
    )
    expect(existsSync(join(folder, 'cut.out'))).toBe(false)
  })

  it.each([
    ['lines.txt', lines],
    ['array.json', `[${lines.trim().replace('\n', ',')}]`],
    ['legacy.json', legacy],
    ['modern.json', legacy.replace('http-sse', 'streamable-http')],
    ['empty.jsonl', ''],
  ])('knows without --format what %s is', async (name, content) => {
    file(name, content)
    const { code, stdout, stderr } = await run('import', name, '--out-trace', 'x.trace')
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain(content === '' ? 'Parsed 0 MCP events.' : 'Parsed 2 MCP events.')
    rmSync(join(folder, 'x.trace'))
  })

  it('gives the same bytes for the same content, without times too: of a copy, of stdin', async () => {
    const content = lines.replaceAll(/"timestamp_ms":\d+,/g, '')
    const path = file('untimed.jsonl', content)
    const copy = file('copy.jsonl', content)
    utimesSync(copy, 1000, 1000)
    const named = ['--format', 'jsonrpc', '--out-trace', '-', '--episode-id', 'e']
    const runs = [
      await run('trace', 'import-mcp', '--input', path, ...named),
      await run('trace', 'import-mcp', '--input', copy, ...named),
      await wiretape(['trace', 'import-mcp', '--input', '-', ...named], { input: content }),
    ]
    expect(new Set(runs.map(({ stdout }) => stdout)).size).toBe(1)
    expect(JSON.parse(runs[0]!.stdout.split('\n')[0]!).timestamp).toBe(0)
    expect(runs[2]!.stderr).toBe(
      'wiretape: stdin: no message in it says when it was: the timestamp of every event is 0 (1970-01-01T00:00:00.000Z)\n',
    )
  })

  it('makes no folders: a name that was mistyped is seen', async () => {
    file('here.jsonl', lines)
    const { code, stdout, stderr } = await run('import', 'here.jsonl', '--out-trace', 'tarces/deep/x')
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toBe(
      'wiretape: cannot write tarces/deep/x: there is no folder tarces/deep (make it first)\n',
    )
    expect(existsSync(join(folder, 'tarces'))).toBe(false)
  })

  it('names what is cut off also where nothing else is understood', async () => {
    const cut = '{"transport":"http-sse","entries":[{"sse":{"data":"{\\"id\\":1,\\"result"}}]}'
    const { code, stderr } = await run('import', file('cut-event.json', cut), '--out-trace', '-')
    expect(code).toBe(2)
    expect(stderr).toContain('its only entry is no MCP message (entry 1: SSE data is no JSON: ')
  })

  it('refuses a file in one line, and leaves what was there', async () => {
    file('bad.jsonl', `${lines}{"jsonrpc":"2.0","id":true,"method":"x"}\n`)
    file('old.trace', 'old')
    const before = readdirSync(folder)
    const { code, stdout, stderr } = await run(
      'import',
      'bad.jsonl',
      '--format',
      'jsonrpc',
      '--out-trace',
      'old.trace',
    )
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toBe(
      'wiretape: bad.jsonl: failed to parse MCP transcript: JSON-RPC id on source line 3 must not be a boolean\n',
    )
    expect(readFileSync(join(folder, 'old.trace'), 'utf8')).toBe('old')
    expect(readdirSync(folder)).toEqual(before)
  })

  it('never writes over the file that it reads, by any name of it', async () => {
    const path = file('own.jsonl', lines)
    symlinkSync('own.jsonl', join(folder, 'alias'))
    for (const output of ['own.jsonl', 'alias']) {
      const args = ['import', 'own.jsonl', '--format', 'jsonrpc', '--out-trace', output]
      const { code, stdout, stderr } = await run(...args)
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
      expect(stderr).toContain(`--out-trace ${output} is the file that is read`)
      expect(readFileSync(path, 'utf8')).toBe(lines)
    }
  })

  it.each([
    [['import', 'nothing.jsonl'], 'cannot read nothing.jsonl: no such file'],
    [
      ['import', 'x', '--format', 'JSONRPC'],
      '--format JSONRPC: unknown format (it is one of inspector, jsonrpc, streamable-http, http-sse)',
    ],
    [['import', '.'], '. is a folder'],
    [['import', 'binary'], 'binary is not a transcript'],
    [['trace', 'import-mcp', '--out-trace', 'x'], "required option '--input <file>' not specified"],
    [['trace', 'import-mcp', '--input', 'x'], "required option '--out-trace <file>' not specified"],
    [['trace'], 'which command?'],
  ])('%j ends with 2 and one line', async (args, words) => {
    file(
      'binary',
      Uint8Array.from({ length: 300 }, (_, i) => (i * 7) & 0xff),
    )
    const { code, stderr } = await run(...args)
    expect(code).toBe(2)
    expect(stderr).toContain(words)
    expect(stderr.split('\n')).toHaveLength(2)
    expect(existsSync(join(folder, 'x'))).toBe(false)
  })
})

describe('trace import-mcp', () => {
  it('names the episode, its test and its prompt, and knows the old name of http-sse', async () => {
    file('s.json', legacy)
    const args = ['--episode-id', 'E', '--test-id', 'T', '--prompt', 'P', '--out-trace', 'new.trace']
    const { code } = await run('trace', 'import-mcp', '--input', 's.json', '--format', 'sse-legacy', ...args)
    expect(code).toBe(0)
    const start = JSON.parse(readFileSync(join(folder, 'new.trace'), 'utf8').split('\n')[0]!)
    expect(start).toMatchObject({ episode_id: 'E', input: { prompt: 'P' }, meta: { test_id: 'T' } })
  })
})
