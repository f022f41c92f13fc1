import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { record, replay } from '../../src/index.js'
import { createDeadline } from '../../src/transports/index.js'
import { opening } from '../behaviour/replay-stage.js'
import { server } from '../behaviour/stage.js'
import { tapeOf } from '../compare/stage.js'

const folder = mkdtempSync(join(tmpdir(), 'wiretape-schedule-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('a recording in which calls overlap', () => {
  const overlap = server('overlap-mcp.mjs')
  let tape = ''
  beforeAll(async () => {
    tape = await recorded(join(folder, 'overlap.jsonl'), overlap)
  })

  it('overlaps again where it did, and only there', async () => {
    const { differences, counts, messages } = await replay(
      tape,
      { command: overlap },
      { concurrency: 'recorded' },
    )
    expect(differences).toEqual([])
    expect(counts.same).toBe(5)
    expect(messages.filter(({ response }) => response?.includes('"text":"1"'))).toHaveLength(2)
  })

  it('does not overlap when one request is sent at a time: who waits for another one times out', async () => {
    const { exchanges } = await replay(tape, { command: overlap }, { timeoutMs: 5_000 })
    expect(exchanges.map(({ verdict }) => verdict)).toEqual(['same', 'same', 'same', 'timed out', 'same'])
  })
})

describe('a server that has something to do with an answer', () => {
  it('gets time for it, as the recorded one had', async () => {
    const opened = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      serverInfo: { name: 's', version: '1' },
    }
    const says: [us: number, dir: string, raw: object][] = [
      [0, 'in', { id: 0, method: 'initialize', params: {} }],
      [1, 'out', { id: 0, result: opened }],
      [2, 'in', { method: 'notifications/initialized' }],
      [3, 'out', { id: 'r', method: 'roots/list' }],
      [4, 'in', { id: 'r', result: { roots: [] } }],
      [500_000, 'in', { id: 1, method: 'tools/call', params: { name: 'roots' } }],
      [500_001, 'out', { id: 1, result: { content: [{ type: 'text', text: 'known' }] } }],
    ]
    const t = '2026-08-01T10:00:00.000Z'
    const meta = { v: 1, type: 'meta', startedAt: t, label: 'x', command: [] }
    const lines = says.map(([us, dir, raw]) => ({ t, us, dir, raw: { jsonrpc: '2.0', ...raw } }))
    const path = join(folder, 'busy.jsonl')
    writeFileSync(path, [meta, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(''))
    const script = `const { createInterface } = require('node:readline')
      let roots = 'unknown'
      const send = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }))
      createInterface(process.stdin).on('line', (line) => {
        const { id, method } = JSON.parse(line)
        if (method === 'initialize') send({ id, result: ${JSON.stringify(opened)} })
        else if (method === 'notifications/initialized') send({ id: 'r', method: 'roots/list' })
        else if (method === undefined) setTimeout(() => (roots = 'known'), 30)
        else send({ id, result: { content: [{ type: 'text', text: roots }] } })
      })`
    const { differences } = await replay(path, { command: [process.execPath, '-e', script] })
    expect(differences).toEqual([])
  })
})

describe('the pace', () => {
  const pauseMs = 400
  const said = { method: 'ping', result: {} }
  const tape = join(folder, 'pace.jsonl')
  beforeAll(() => writeFileSync(tape, tapeOf([said, { ...said, ms: pauseMs }, said])))

  it.each([
    [1, pauseMs],
    [4, pauseMs / 4],
    [Infinity, 0],
  ])('%s keeps pauses of %s ms or more', async (speed, atLeastMs) => {
    const log = join(folder, `${speed}.log`)
    const result = await replay(
      tape,
      { command: server('arrivals.mjs', log) },
      { speed, handshake: false, level: 'schema' },
    )
    expect(result.differences).toEqual([])
    // Of the first one it is the server's start that tells when it comes.
    const [, first, second] = readFileSync(log, 'utf8').trim().split('\n').map(Number)
    // Timers may be a millisecond early, and pipes take different times.
    expect(second! - first!).toBeGreaterThanOrEqual(atLeastMs * 0.75)
  })
})

describe('a server that reads nothing', () => {
  const text = 'x'.repeat(1 << 20)
  const tape = join(folder, 'deaf.jsonl')
  const calls = [1, 2].map((call) => ({ params: { name: 'take', arguments: { call, text } }, result: {} }))
  beforeAll(() => writeFileSync(tape, tapeOf(calls)))
  const deaf = { command: server('deaf.mjs') }

  it('gets each message, though the pipe is full, and each times out', async () => {
    const { exchanges } = await replay(tape, deaf, { handshake: false, timeoutMs: 300 })
    expect(exchanges.map(({ verdict }) => verdict)).toEqual(['timed out', 'timed out'])
  })

  it('does not keep an interrupted replay', async () => {
    const interrupted = createDeadline({ ms: 300 })
    const result = await replay(tape, deaf, { handshake: false, signal: interrupted.signal })
    interrupted.close()
    expect(result).toMatchObject({ stopped: 'interrupted', same: false })
  })
})

/** Two calls of `count` one after the other, then two of `meet` at once. */
async function recorded(file: string, command: readonly string[]): Promise<string> {
  const recorder = await record({ command, file })
  const { command: program, args } = recorder.server
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'] })
  const closed = new Promise((done) => child.once('close', done))
  const say = (message: object): void =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const call = (id: number, name: string): void => say({ id, method: 'tools/call', params: { name } })
  const next = createInterface(child.stdout)[Symbol.asyncIterator]()
  for (const message of opening) say(message)
  await next.next()
  for (const id of [1, 2]) {
    call(id, 'count')
    await next.next()
  }
  for (const id of [3, 4]) call(id, 'meet')
  for (let answers = 0; answers < 2; answers += 1) await next.next()
  child.stdin.end()
  await closed
  return recorder.close()
}
