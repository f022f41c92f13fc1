import { appendFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import {
  deleteShipped,
  isShipped,
  openRecording,
  recoverTape,
  shippedMarkPath,
} from '../../src/tape/index.js'

const target = 's3://tapes'
const lines = [
  '{"v":1,"type":"meta","startedAt":"2026-01-02T03:04:05.000Z","label":"x","command":["srv"],"mcpTapVersion":"x"}',
  '{"t":"2026-01-02T03:04:06.000Z","dir":"in","raw":{"jsonrpc":"2.0","method":"a"},"seq":0}',
  '',
].join('\n')
let folder: string
let tape: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'wiretape-shipped-'))
  tape = join(folder, 'recordings', 'cut.jsonl')
  mkdirSync(dirname(tape))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Stores a tape unchanged. */
function shipped(text: string): void {
  writeFileSync(tape, text)
  const mark = { v: 1, session: 's', segment: 0, hash: 'h', bytes: statSync(tape).size, targets: [target] }
  mkdirSync(dirname(shippedMarkPath(tape)))
  writeFileSync(shippedMarkPath(tape), JSON.stringify(mark))
}

it('a tape that grew after it was shipped is not shipped, and the quota keeps it', async () => {
  shipped(lines)
  expect(isShipped(tape, target)).toBe(true)
  expect(isShipped(tape, 's3://other')).toBe(false)
  appendFileSync(tape, lines.split('\n')[1]!.replace('"seq":0', '"seq":1') + '\n')
  expect(isShipped(tape, target)).toBe(false)
  expect(deleteShipped({ folder: dirname(tape), bytes: 0, target }, 1)).toBe(0)
  await recoverTape(await openRecording(tape), tape)
  expect(isShipped(tape, target)).toBe(false)
  expect(existsSync(tape)).toBe(true)
})

it('a tape that `recover` closed after it was shipped is still shipped', async () => {
  shipped(`${lines}{"t":"2026-`)
  await recoverTape(await openRecording(tape), tape)
  expect(isShipped(tape, target)).toBe(true)
  rmSync(tape)
  expect(isShipped(tape, target)).toBe(false)
})
