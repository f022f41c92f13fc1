import { existsSync, readFileSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { wiretape } from './run-cli.js'
import { lines, useTranscripts } from './import-stage.js'

const { folder, file, run } = useTranscripts()

describe('import', () => {
  it('reads packed files, and stdin', async () => {
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
        stderr: expect.stringContaining('is empty (- is stdin'),
      })
    }
    file('cut.jsonl.gz', gzipSync(lines).subarray(0, 60))
    const cut = await run('import', 'cut.jsonl.gz', '--format', 'jsonrpc', '--out-trace', 'cut.out')
    expect(cut.code).toBe(2)
    expect(cut.stderr).toBe(
      'wiretape: cannot read cut.jsonl.gz: the compressed data is truncated (check it with gzip -t FILE or zstd -t FILE)\n',
    )
    expect(existsSync(join(folder, 'cut.out'))).toBe(false)
  })

  it('writes the same bytes for the same content, without times too: of a copy, of stdin', async () => {
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
      'wiretape: stdin: no message has a time: the timestamp of every event is 0 (1970-01-01T00:00:00.000Z)\n',
    )
  })

  it('uses the clock for a transcript without times under --profile strict, or on request', async () => {
    file('no-times.jsonl', lines.replaceAll(/"timestamp_ms":\d+,/g, ''))
    const timesOf = async (...args: string[]): Promise<Set<number>> => {
      const { stdout } = await run('import', 'no-times.jsonl', '--out-trace', '-', ...args)
      return new Set(
        stdout
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line).timestamp),
      )
    }
    const before = Date.now()
    for (const args of [
      ['--profile', 'strict'],
      ['--untimed', 'now'],
    ]) {
      const [time, ...others] = await timesOf(...args)
      expect(others).toEqual([])
      expect(time).toBeGreaterThanOrEqual(before)
    }
    expect(await timesOf('--untimed', '2026-11-23T10:00:00Z')).toEqual(
      new Set([Date.parse('2026-11-23T10:00:00Z')]),
    )
    expect(await timesOf('--untimed', '7', '--profile', 'strict')).toEqual(new Set([7]))
  })

  it('writes the same of a file large enough for a thread, and refuses it with the same words', async () => {
    const text = 'x'.repeat(100_000)
    const pair = (id: number, ms: number): string =>
      lines.replaceAll('"id":1', `"id":${id}`).replaceAll('"timestamp_ms":1', `"timestamp_ms":${ms}`) +
      `{"jsonrpc":"2.0","method":"notifications/message","params":{"text":"${text}"},"timestamp_ms":${ms}999}\n`
    const large = Buffer.from(Array.from({ length: 1_400 }, (_, i) => pair(i, i + 1)).join(''))
    expect(large.length).toBeGreaterThan(128 << 20)
    file('large.jsonl', large)
    const told = await run('import', 'large.jsonl', '--out-trace', 'large.out')
    expect(told).toMatchObject({ code: 0, stdout: expect.stringContaining('Parsed 4200 MCP events') })
    // Without a thread.
    const printed = await run('import', 'large.jsonl', '--out-trace', '-')
    expect(readFileSync(join(folder, 'large.out'), 'utf8')).toBe(printed.stdout)
    expect(told.stderr).toBe(printed.stderr)

    file('faulty.jsonl', Buffer.concat([large, Buffer.from('{"id":true}\n')]))
    const refused = await run('import', 'faulty.jsonl', '--out-trace', 'faulty.out')
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain('JSON-RPC id on source line 4201 must not be a boolean')
    expect(existsSync(join(folder, 'faulty.out'))).toBe(false)
  })
})
