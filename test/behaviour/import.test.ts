import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { describe, expect, it } from 'vitest'
import { wiretape } from './run-cli.js'
import { lines, useTranscripts } from './import-stage.js'

const { folder, file, run } = useTranscripts()

const legacy = `{"transport":"http-sse","entries":[${lines
  .trim()
  .replace('\n', ',')
  .replaceAll('{"timestamp_ms', '{"request":{"timestamp_ms')
  .replaceAll(/\}(,|$)/g, '}}$1')}]}`

describe('import', () => {
  it('writes the trace beside the input, and prints a summary', async () => {
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

  it.each([
    ['lines.txt', lines],
    ['array.json', `[${lines.trim().replace('\n', ',')}]`],
    ['legacy.json', legacy],
    ['modern.json', legacy.replace('http-sse', 'streamable-http')],
    ['empty.jsonl', ''],
  ])('detects %s without --format', async (name, content) => {
    file(name, content)
    const { code, stdout, stderr } = await run('import', name, '--out-trace', 'x.trace')
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain(content === '' ? 'Parsed 0 MCP events.' : 'Parsed 2 MCP events.')
    rmSync(join(folder, 'x.trace'))
  })

  it('creates no folders, so that a typing error is noticed', async () => {
    file('here.jsonl', lines)
    const { code, stdout, stderr } = await run('import', 'here.jsonl', '--out-trace', 'tarces/deep/x')
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toBe('wiretape: cannot write tarces/deep/x: no folder tarces/deep (create it first)\n')
    expect(existsSync(join(folder, 'tarces'))).toBe(false)
  })

  it.each([
    ['data that are cut off', '{"sse":{"data":"{\\"id\\":1,\\"result"}}', 'entry 1: SSE data is not JSON: '],
    ['an OAuth error', '{"response":{"error_description":"x"}}', 'neither requests nor responses (1)'],
  ])('reads an entry without a message, with a warning: %s', async (_, entry, words) => {
    const text = `{"transport":"http-sse","entries":[${entry}]}`
    const { code, stdout, stderr } = await run('import', file('empty-entry.json', text), '--out-trace', '-')
    expect([code, stdout.trim().split('\n').length]).toEqual([0, 2])
    expect(stderr).toContain(words)
  })

  it('takes several transcripts, each with its trace; a bad one does not stop the others', async () => {
    file('one.jsonl', lines)
    file('two.jsonl', '{"jsonrpc":"2.0","method":"x","id":true}\n')
    file('three.json', legacy)
    const several = ['import', 'one.jsonl', 'two.jsonl', 'three.json']
    const beside = await run(...several)
    expect(beside.code).toBe(2)
    expect(beside.stderr).toBe(
      'wiretape: two.jsonl: failed to parse MCP transcript: JSON-RPC id on source line 1 must not be a boolean\n',
    )
    expect(beside.stdout.match(/Trace written to: .*/g)).toEqual([
      'Trace written to: "one.trace.jsonl"',
      'Trace written to: "three.trace.jsonl"',
    ])
    mkdirSync(join(folder, 'traces'))
    const inFolder = await run(
      'trace',
      'import-mcp',
      '--input',
      'one.jsonl',
      'three.json',
      '--out-trace',
      'traces',
    )
    expect(inFolder.code).toBe(0)
    for (const name of ['one.trace.jsonl', 'three.trace.jsonl']) {
      expect(readFileSync(join(folder, 'traces', name))).toEqual(readFileSync(join(folder, name)))
    }
    for (const [args, words] of [
      [['--out-trace', 'all.jsonl'], '--out-trace all.jsonl is not a folder (each'],
      [['one.jsonl'], 'one.jsonl and one.jsonl write the same file'],
      [['-'], 'several transcripts with stdin need --out-trace with a folder'],
    ] as const) {
      const { code, stderr } = await run(...several, ...args)
      expect([code, stderr.split('\n').length]).toEqual([2, 2])
      expect(stderr).toContain(words)
    }
  })

  it('writes tests of the called tools with --init, and replaces no file', async () => {
    const cwd = join(folder, 'init')
    mkdirSync(cwd)
    file('init/a.jsonl', lines)
    file('init/b.jsonl', lines.replace('"Calc"', '"no: \\"key\\""'))
    const first = await wiretape(['import', 'a.jsonl', 'b.jsonl', '--init'], { cwd })
    expect([first.code, first.stderr]).toEqual([0, ''])
    expect(first.stdout).toMatch(/\nCreated mcp-eval\.yaml\n$/)
    const made = readFileSync(join(cwd, 'mcp-eval.yaml'), 'utf8')
    const gate = (id: string, type: string): unknown => ({
      id,
      input: { prompt: '<mcp:session>' },
      expected: { type },
    })
    const open = { type: 'object', additionalProperties: true, properties: {} }
    expect(parse(made)).toMatchObject({
      configVersion: 1,
      suite: 'mcp-suite',
      model: 'mcp-replay',
      settings: { parallel: 1 },
      tests: [gate('mcp-quality-gate', 'args_valid'), gate('mcp-sequence-gate', 'sequence_valid')],
    })
    const [args, sequence] = parse(made).tests
    expect(args.expected.schema).toEqual({ Calc: open, 'no: "key"': open })
    expect(sequence.expected.rules).toEqual([
      { type: 'require', tool: 'Calc' },
      { type: 'require', tool: 'no: "key"' },
    ])
    file('init/none.jsonl', '')
    const again = await wiretape(['import', 'none.jsonl', '--init'], { cwd })
    expect(again.stdout).toMatch(/\nmcp-eval\.yaml already exists, skipping\.\n$/)
    expect(readFileSync(join(cwd, 'mcp-eval.yaml'), 'utf8')).toBe(made)
    rmSync(join(cwd, 'mcp-eval.yaml'))
    await wiretape(['import', 'none.jsonl', '--init'], { cwd })
    expect(readFileSync(join(cwd, 'mcp-eval.yaml'), 'utf8')).toContain('# No tools found in trace.\n')
  })

  it('names the causes of a refusal on lines of their own under --profile strict', async () => {
    file('twice.jsonl', `${lines.split('\n')[0]}\n${lines}`)
    const strict = ['--profile', 'strict', '--out-trace', 'strict.trace']
    const one = await run('import', 'twice.jsonl', ...strict)
    expect([one.code, one.stdout]).toEqual([2, ''])
    expect(one.stderr).toBe(
      'wiretape: twice.jsonl: failed to parse MCP transcript\n\nCaused by:\n' +
        '    two outstanding JSON-RPC requests share an id at source line 2\n',
    )
    file('repeated.jsonl', '{"jsonrpc":"2.0","jsonrpc":"2.0","method":"x"}\n')
    expect((await run('import', 'repeated.jsonl', ...strict)).stderr).toBe(
      'wiretape: repeated.jsonl: failed to parse MCP transcript\n\nCaused by:\n    0: invalid JSON on line 1\n' +
        '    1: JSON object contains a duplicate member at line 1 column 26\n',
    )
    expect(existsSync(join(folder, 'strict.trace'))).toBe(false)
  })

  it('refuses a file in one line, and leaves the existing output', async () => {
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

  it('never overwrites its input, by any name of it', async () => {
    const path = file('own.jsonl', lines)
    symlinkSync('own.jsonl', join(folder, 'alias'))
    for (const output of ['own.jsonl', 'alias']) {
      const args = ['import', 'own.jsonl', '--format', 'jsonrpc', '--out-trace', output]
      const { code, stdout, stderr } = await run(...args)
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
      expect(stderr).toContain(`--out-trace ${output} is also the input`)
      expect(readFileSync(path, 'utf8')).toBe(lines)
    }
  })

  it.each([
    [['import', 'nothing.jsonl'], 'cannot read nothing.jsonl: no such file'],
    [
      ['import', 'x', '--format', 'JSONRPC'],
      '--format JSONRPC: unknown format (use one of inspector, jsonrpc, streamable-http, http-sse)',
    ],
    [['import', 'x', '--profile', 'lax'], '--profile lax: unknown profile (use one of documented, strict)'],
    [['import', 'x', '--untimed', 'noon'], '--untimed noon: not a time'],
    [['import', '.'], '. is a folder'],
    [['import', 'binary'], 'binary is not a transcript'],
    [['trace', 'import-mcp', '--out-trace', 'x'], "required option '--input <files...>' not specified"],
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
  it('prints the episode, its test and its prompt, and accepts the old name of http-sse', async () => {
    file('s.json', legacy)
    const args = ['--episode-id', 'E', '--test-id', 'T', '--prompt', 'P', '--out-trace', 'new.trace']
    const { code } = await run('trace', 'import-mcp', '--input', 's.json', '--format', 'sse-legacy', ...args)
    expect(code).toBe(0)
    const start = JSON.parse(readFileSync(join(folder, 'new.trace'), 'utf8').split('\n')[0]!)
    expect(start).toMatchObject({ episode_id: 'E', input: { prompt: 'P' }, meta: { test_id: 'T' } })
  })
})
