import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readRecording } from '../../dist/index.js'
import { wiretapeIn } from '../behaviour/run-cli.js'
import { printed, server, useStage } from '../behaviour/stage.js'

const stage = useStage()
const cli = wiretapeIn(stage)

const start = '2026-05-12T23:00:00.000Z'
const at = (second: number): string => new Date(Date.parse(start) + second * 1000).toISOString()
const meta = JSON.stringify({
  v: 1,
  type: 'meta',
  startedAt: start,
  label: 'files',
  command: ['x'],
  mcpTapVersion: '0.1',
})
const asked = (id: number, second = id): string =>
  JSON.stringify({
    t: at(second),
    dir: 'in',
    raw: { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 't' } },
  })
const answered = (id: number, second = id + 0.5): string =>
  JSON.stringify({ t: at(second), dir: 'out', raw: { jsonrpc: '2.0', id, result: { content: [] } } })
const end = JSON.stringify({ t: at(9), type: 'end', exitCode: 0, durationMs: 9000 })
const write = (name: string, ...lines: string[]): void =>
  writeFileSync(stage.path(name), `${lines.join('\n')}\n`)

/**
 * Files as mcp-tape rotates them: the file with the first line has the highest number, and requests and responses are
 * separated.
 */
function writeRotated(): void {
  write('t.jsonl.2', meta, asked(1), answered(1), asked(2))
  write('t.jsonl.1', answered(2), asked(3))
  write('t.jsonl', answered(3), asked(4), answered(4), end)
}
const whole = [
  meta,
  asked(1),
  answered(1),
  asked(2),
  answered(2),
  asked(3),
  answered(3),
  asked(4),
  answered(4),
  end,
]

describe('files that mcp-tape has rotated', () => {
  it.each(['t.jsonl', 't.jsonl.1', 't.jsonl.2'])(
    'are one recording, whichever is named: %s',
    async (name) => {
      writeRotated()
      write('w.jsonl', ...whole)
      expect(await cli('inspect', '--check', name)).toMatchObject({ code: 0, stderr: '' })
      expect((await cli('inspect', '--json', name)).stdout).toContain('"unanswered":0')
      await cli('convert', name, 'o.jsonl')
      await cli('convert', 'w.jsonl', 'p.jsonl')
      expect(readFileSync(stage.path('o.jsonl'), 'utf8')).toBe(readFileSync(stage.path('p.jsonl'), 'utf8'))
      expect((await readRecording(stage.path(name))).counts.unanswered).toBe(0)
      expect((await cli('diff', name, 'w.jsonl')).code).toBe(0)
    },
  )

  it('are one row of ls', async () => {
    writeRotated()
    const rows = JSON.parse((await cli('ls', '--json', stage.folder)).stdout)
    expect(rows).toMatchObject([{ label: 'files', startedAt: start, state: 'complete', durationMs: 9000 }])
    expect(rows[0].files.map((path: string) => basename(path))).toEqual(['t.jsonl.2', 't.jsonl.1', 't.jsonl'])
  })

  it('are one recording where each has the same first line', async () => {
    write('t.jsonl.2', meta, asked(1), answered(1), asked(2))
    write('t.jsonl.1', meta, answered(2), asked(3))
    write('t.jsonl', meta, answered(3), asked(4), answered(4), end)
    write('w.jsonl', ...whole)
    expect((await cli('diff', 't.jsonl.1', 'w.jsonl')).code).toBe(0)
    expect((await cli('inspect', '--json', 't.jsonl')).stdout).toContain('"unanswered":0')
    rmSync(stage.path('w.jsonl'))
    const rows = JSON.parse((await cli('ls', '--json', stage.folder)).stdout)
    expect(rows.map(({ files }: { files: string[] }) => files.length)).toEqual([3])
  })

  it('are apart where each begins a recording of its own', async () => {
    write('t.jsonl.1', meta, asked(1), answered(1), end)
    write('t.jsonl', meta.replace('23:00:00.000', '23:30:00.000'), asked(1), answered(1), end)
    expect(JSON.parse((await cli('ls', '--json', stage.folder)).stdout)).toHaveLength(2)
  })
})

describe('a tape without its first line', () => {
  it('has the times that its lines say, in every format', async () => {
    write('t.jsonl', asked(4), answered(4, 5.5), end)
    const { stdout } = await cli('inspect', '--jsonl', '--json', 't.jsonl')
    expect(stdout).not.toContain('1970')
    expect((await cli('inspect', '--filter', 'latency>1s', 't.jsonl')).stdout).toContain('tools/call')
    expect((await cli('inspect', '--filter', 'latency<1s', 't.jsonl')).stdout).not.toContain('tools/call')
    await cli('convert', 't.jsonl', 'c.csv')
    const [, , answer] = readFileSync(stage.path('c.csv'), 'utf8')
      .split('\r\n')
      .map((line) => line.split(','))
    expect(answer?.slice(1, 3)).toEqual([at(5.5), '1500'])
    await cli('convert', '--to', 'otlp-json', 't.jsonl', 'o.json')
    const spans = JSON.stringify(JSON.parse(readFileSync(stage.path('o.json'), 'utf8')))
    expect(spans).toContain(`"startTimeUnixNano":"${Date.parse(at(4))}000000"`)
    expect(spans).toContain(`"endTimeUnixNano":"${Date.parse(at(5.5))}000000"`)
    await cli('convert', 't.jsonl', 's.json')
    expect(JSON.parse(readFileSync(stage.path('s.json'), 'utf8')).started_at).toBe('2026-05-12T23:00:04Z')
    expect(JSON.parse((await cli('ls', '--json', stage.folder)).stdout)).toMatchObject([{ startedAt: at(4) }])
  })
})

it('segments of a strict tape are one recording', async () => {
  const recorder = stage.start(stage.record(server('echo-lines.mjs'), ['--strict-v1', '--max-bytes', '1kB']))
  for (let id = 1; id <= 30; id += 1) {
    await recorder.send(
      `${JSON.stringify({ jsonrpc: '2.0', id, method: 'ping', params: { pad: 'x'.repeat(80) } })}\n`,
    )
    await printed(recorder, `"id":${id},`)
  }
  recorder.stdin.end()
  await recorder.ended
  const tapes = stage.tapes()
  expect(tapes.length).toBeGreaterThan(3)
  expect(JSON.parse((await cli('ls', '--json', stage.out)).stdout)).toMatchObject([
    { state: 'complete', exitCode: 0 },
  ])
  for (const tape of [tapes[0]!, tapes.at(-1)!]) {
    expect((await readRecording(tape)).counts).toMatchObject({ messages: 60 })
    const run = await cli('convert', '--force', tape, 'o.jsonl')
    expect(run.stdout).toBe('o.jsonl: 60 messages, trace-v1\n')
    const types = readFileSync(stage.path('o.jsonl'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).type)
    expect(types.filter((type) => type !== undefined)).toEqual(['meta', 'end'])
  }
  // A copy under another name is none of them.
  const copy = stage.path('tapes/copy.jsonl')
  writeFileSync(copy, readFileSync(tapes[0]!))
  renameSync(copy, copy.replace('copy', 'other'))
  expect((await readRecording(copy.replace('copy', 'other'))).counts.messages).toBeLessThan(60)
})
