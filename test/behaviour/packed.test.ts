import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { wiretape, type Run } from './run-cli.js'

let folder = ''
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'wiretape-packed-'))))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const run = (...args: string[]): Promise<Run> => wiretape(args, { cwd: folder })
const write = (name: string, ...parts: readonly Uint8Array[]): void =>
  writeFileSync(join(folder, name), Buffer.concat(parts))

const head =
  '{"v":1,"type":"meta","startedAt":"2026-08-01T10:00:00.000Z","label":"a","command":["x"],"mcpTapVersion":"1"}\n'
const message = (i: number): string =>
  `{"t":"2026-08-01T10:00:00.00${i}Z","dir":"in","raw":{"jsonrpc":"2.0","id":${i},"method":"ping"}}\n`
const end = '{"t":"2026-08-01T10:00:30.000Z","type":"end","exitCode":0,"durationMs":30000}\n'
const tape = `${head}${message(1)}${message(2)}${end}`

describe('a packed recording', () => {
  it('that was appended to, a member at a time, is read to its end', async () => {
    write('log.gz', ...[head, message(1), message(2), end].map((line) => gzipSync(line)))
    write('log', Buffer.from(tape))
    expect(await run('convert', 'log.gz', 'log.out.jsonl')).toEqual({
      code: 0,
      stdout: 'log.out.jsonl: 2 messages, trace-v1\n',
      stderr: '',
    })
    expect(readFileSync(join(folder, 'log.out.jsonl'), 'utf8')).toBe(tape)
  })

  it('that is cut off shows its complete part, and that it is cut off', async () => {
    const packed = gzipSync(tape)
    write('cut.gz', packed.subarray(0, packed.length - 20))
    const shown = await run('inspect', 'cut.gz')
    expect([shown.code, shown.stderr]).toEqual([0, ''])
    expect(shown.stdout).toContain('→ ping')
    expect(shown.stdout).toContain('! the compressed data is truncated\n')
    const checked = await run('inspect', '--check', 'cut.gz')
    expect(checked.code).toBe(1)
    expect(checked.stdout).toContain('packed-cut')
    const converted = await run('convert', 'cut.gz', 'cut.jsonl', '--to', 'jsonrpc')
    expect(converted.code).toBe(0)
    expect(converted.stderr).toContain('wiretape: cut.gz: the compressed data is truncated\n')
    expect((await run('diff', 'cut.gz', 'cut.gz')).stderr).toContain(
      'cut.gz: the compressed data is truncated\n',
    )
  })

  it('that has only its first bytes is refused', async () => {
    write('tiny.gz', gzipSync(tape).subarray(0, 12))
    expect(await run('inspect', 'tiny.gz')).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'wiretape: cannot read tiny.gz: the compressed data is truncated (check it with gzip -t FILE or zstd -t FILE)\n',
    })
  })

  it('that is damaged is refused', async () => {
    const packed = gzipSync(tape)
    packed[packed.length - 6]! ^= 1
    write('bad.gz', packed)
    const { code, stderr } = await run('inspect', 'bad.gz')
    expect([code, stderr]).toEqual([
      2,
      'wiretape: cannot read bad.gz: the compressed data is damaged (check it with gzip -t FILE or zstd -t FILE)\n',
    ])
  })

  it('that is followed by other bytes is read up to there, with a warning', async () => {
    write('rest.gz', gzipSync(tape), Buffer.from('something else'))
    const { code, stdout } = await run('inspect', 'rest.gz')
    expect(code).toBe(0)
    expect(stdout).toContain('2 messages')
    expect(stdout).toContain('! uncompressed data follows the compressed data; it was not read\n')
  })

  it('that was joined with another document is read without the second, with a warning', async () => {
    expect((await run('convert', 'log', 'one.json')).code).toBe(0)
    const document = gzipSync(readFileSync(join(folder, 'one.json')))
    write('two.json.gz', document, document)
    const lines = gunzipSync(document).toString().split('\n').length
    const { code, stderr } = await run('convert', 'two.json.gz', 'two.jsonl')
    expect(code).toBe(0)
    expect(stderr).toBe(
      `wiretape: two.json.gz, line ${lines}: not valid JSON: unexpected text after the value: a second document, which is ignored\n`,
    )
  })
})
