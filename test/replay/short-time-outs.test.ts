import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { replay } from '../../src/index.js'
import { call, tapeOf } from '../compare/stage.js'

const folder = mkdtempSync(join(tmpdir(), 'wiretape-short-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it.each([
  [[5, 2000], '1 request timed out, but took 2.0 s in the recording: use a longer timeout'],
  [[300, 2000, 5], '2 requests timed out, but took up to 2.0 s in the recording: use a longer timeout'],
  [[5, 6], undefined],
])('a time-out that the recorded server would not have kept either is told: %j ms', async (took, note) => {
  const tape = join(folder, 'slow.jsonl')
  writeFileSync(tape, tapeOf(took.map((ms, i) => ({ ...call('a', { i }, 'done'), ms }))))
  const mute = { command: [process.execPath, '-e', 'process.stdin.resume()'] }
  const { notes, counts } = await replay(tape, mute, { timeoutMs: 200, handshake: false })
  expect(counts['timed out']).toBe(took.length)
  expect(notes).toEqual(note === undefined ? undefined : [note])
})
