import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
// The saving thread runs compiled code.
import { createSessionSaver } from '../../dist/capture/session-saver.js'

const folder = mkdtempSync(join(tmpdir(), 'wiretape-saver-'))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

it('a session file is saved as often as asked, and once more at the end', async () => {
  const tape = join(folder, 'tape.jsonl')
  const target = join(folder, 'session.json')
  const line = (id: number): string =>
    `{"t":"2026-01-01T00:00:0${id}.000Z","dir":"in","raw":{"jsonrpc":"2.0","id":${id},"method":"ping"}}\n`
  let text = '{"v":1,"type":"meta","startedAt":"2026-01-01T00:00:00.000Z","label":"l","command":["c"]}\n'
  writeFileSync(tape, text)
  const saver = createSessionSaver({ target, tape })
  for (const id of [1, 2, 3]) {
    writeFileSync(tape, (text += line(id)))
    expect(await (id === 3 ? saver.finish([tape]) : saver.now())).toBeUndefined()
    expect(JSON.parse(readFileSync(target, 'utf8')).messages).toHaveLength(id)
  }
})
