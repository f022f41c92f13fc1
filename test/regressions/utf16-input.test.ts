import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { wiretape, type Run } from '../behaviour/run-cli.js'

let folder = ''
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'wiretape-utf16-'))))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const run = (...args: string[]): Promise<Run> => wiretape(args, { cwd: folder })
const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'größe🙂' } }
const tape = [
  '{"v":1,"type":"meta","startedAt":"2026-08-01T10:00:00.000Z","label":"ä","command":["x"],"mcpTapVersion":"1"}',
  '{"t":"2026-08-01T10:00:00.001Z","dir":"in","raw":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"größe🙂"}}}',
  '{"t":"2026-08-01T10:00:00.002Z","dir":"out","raw":{"jsonrpc":"2.0","id":1,"result":{}}}',
  '{"t":"2026-08-01T10:00:30.000Z","type":"end","exitCode":0,"durationMs":30000}',
  '',
].join('\n')
const little = Buffer.from(tape, 'utf16le')
const marked = Buffer.from(`\ufeff${tape}`, 'utf16le')

describe('a recording in UTF-16', () => {
  it.each([
    ['little endian', little],
    ['little endian with a mark', marked],
    ['big endian', Buffer.from(little).swap16()],
    ['big endian with a mark', Buffer.from(marked).swap16()],
    ['packed', gzipSync(marked)],
  ])('is read as UTF-8: %s', async (_, bytes) => {
    writeFileSync(join(folder, 'wide.jsonl'), bytes)
    const converted = await run('convert', 'wide.jsonl', 'plain.jsonl', '--to', 'trace-v1', '--force')
    expect(converted.code).toBe(0)
    expect(converted.stderr).toContain('wide.jsonl: the file is UTF-16: it is read as UTF-8')
    expect(readFileSync(join(folder, 'plain.jsonl'), 'utf8')).toBe(tape)
  })

  it('is accepted by every command that reads recordings', async () => {
    writeFileSync(join(folder, 'wide.jsonl'), marked)
    writeFileSync(join(folder, 'plain.jsonl'), tape)
    const shown = await run('inspect', 'wide.jsonl')
    expect([shown.code, shown.stderr]).toEqual([0, ''])
    expect(shown.stdout).toContain('tools/call größe🙂')
    expect(shown.stdout).toContain('! the file is UTF-16')
    expect((await run('diff', 'wide.jsonl', 'plain.jsonl')).stdout).toContain('Same: 1 exchange')
    const server = join(import.meta.dirname, '../fixtures/servers/mini-mcp.mjs')
    const replayed = await run('replay', 'wide.jsonl', '--', process.execPath, server)
    expect(replayed.stdout).toContain('Replaying 1 message of wide.jsonl')
    const mocked = await wiretape(['mock', 'wide.jsonl'], { cwd: folder, input: JSON.stringify(call) + '\n' })
    expect(mocked.stdout).toContain('{"jsonrpc":"2.0","id":1,"result":{}}')
    const lines = tape
      .split('\n')
      .slice(1, 3)
      .map((line) => JSON.stringify((JSON.parse(line) as { raw: object }).raw))
    writeFileSync(join(folder, 'lines.jsonl'), Buffer.from(`\ufeff${lines.join('\n')}\n`, 'utf16le'))
    const imported = await run('import', 'lines.jsonl', '--format', 'jsonrpc', '--out-trace', 'new.trace')
    expect(imported.code).toBe(0)
    expect(readFileSync(join(folder, 'new.trace'), 'utf8')).toContain('größe🙂')
  })

  it('is read from stdin', async () => {
    const { stdout } = await wiretape(['inspect', '-'], { cwd: folder, input: marked })
    expect(stdout).toContain('tools/call größe🙂')
  })
})
