import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { wiretape } from '../behaviour/run-cli.js'

it('a last line with microseconds and no exit code comes back from a session file as it was', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'wiretape-end-'))
  try {
    const identity =
      '"session":"s","transport":"stdio","url":null,"segment":0,"redaction":"none","metadata":{}'
    const meta = `{"v":1,"type":"meta","startedAt":"2026-08-01T10:00:00.000Z","label":"","command":[],"wiretape":{"version":"0.1.0",${identity}}}`
    const tape = `${meta}\n{"t":"2026-08-01T10:00:00.123456Z","type":"end"}\n`
    writeFileSync(join(folder, 'a.jsonl'), tape)
    expect(await wiretape(['convert', 'a.jsonl', 'a.json'], { cwd: folder })).toMatchObject({ code: 0 })
    expect(await wiretape(['convert', 'a.json', 'b.jsonl'], { cwd: folder })).toMatchObject({ code: 0 })
    expect(readFileSync(join(folder, 'b.jsonl'), 'utf8')).toBe(tape)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
