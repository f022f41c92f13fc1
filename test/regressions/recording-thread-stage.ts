/** Recordings whose thread dies of a message that needs more memory than it has. */
import http from 'node:http'
import { afterEach, expect } from 'vitest'
import { cli, until, type Actor, useStage } from '../behaviour/stage.js'
import { linesOfTape, type Line } from '../behaviour/tape-bytes.js'

/** Each secret leaves a mark that repeats the long name: tens of megabytes of marks. */
export const hostile = JSON.stringify({
  jsonrpc: '2.0',
  id: 'hostile',
  method: 'x',
  params: {
    ['n'.repeat(2_000)]: Array.from({ length: 45_000 }, () => ({ token: 'x1' })),
    pad: 'x'.repeat(5 * 1024 * 1024),
  },
})
const tookItsPlace =
  /^wiretape: the recording thread failed: .*; a new thread replaced it: \d+ messages? \(\d+ bytes\) are not on the tape/

export const replaced = (recorder: Actor): Promise<unknown> =>
  until('the thread is replaced', () => tookItsPlace.test(recorder.stderr().toString()))

export const numbersFrom = (first: number): number[] => Array.from({ length: 40 }, (_, i) => first + i)
export const both = (ids: readonly number[]): number[] => ids.flatMap((id) => [id, id])
export const sorted = (ids: readonly unknown[]): unknown[] => ids.toSorted((a, b) => Number(a) - Number(b))

/** Answers each request as it comes; exits with 3. */
export const stdioServer = [
  process.execPath,
  '-e',
  `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line)
    const result = method === 'initialize'
      ? { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 's', version: '1' } }
      : { ok: true }
    if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n')
  }).on('close', () => process.exit(3))`,
]

export const call = (id: number): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: {} })

export function useDyingThread() {
  const stage = useStage()
  const servers: http.Server[] = []
  afterEach(async () => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    }
  })

  function start(argv: readonly string[]): Actor {
    const env = { ...stage.env, WIRETAPE_RECORDER_HEAP_MB: '24' }
    return stage.start([process.execPath, cli, ...argv], { env, detached: true })
  }

  const run = async (...argv: string[]): Promise<{ exitCode: number | null; text: string }> => {
    const actor = stage.start([process.execPath, cli, ...argv])
    const { exitCode } = await actor.ended
    return { exitCode, text: actor.stdout().toString() }
  }

  /** The second segment: its first lines, and the ids of requests and responses after them. */
  async function secondSegment(): Promise<{ gaps: Line[]; ids: unknown[] }> {
    const [second, first, ...more] = stage.tapes()
    expect(more).toEqual([])
    const [meta, gap, ...lines] = linesOfTape(second!)
    expect(meta).toMatchObject({ type: 'meta', wiretape: { segment: 1 } })
    expect(gap).toMatchObject({ type: 'gap', why: expect.stringMatching(/a new thread replaced it$/) })
    const gaps = [gap!, ...lines.filter(({ type }) => type === 'gap')]
    const lost = gaps.reduce((sum, { lost }) => sum + Number(lost), 0)
    expect(lost).toBeGreaterThanOrEqual(1)
    expect(gaps.reduce((sum, { bytes }) => sum + Number(bytes), 0)).toBeGreaterThan(5 * 1024 * 1024)
    expect(lines.at(-1)).toMatchObject({ type: 'end' })
    const numbers = lines.flatMap(({ seq }) => (seq === undefined ? [] : [Number(seq)]))
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
    expect((await run('inspect', '--check', first!)).exitCode).toBe(1)
    return { gaps, ids: lines.flatMap(({ raw }) => (raw?.id === undefined ? [] : [raw.id])) }
  }

  return { stage, servers, start, secondSegment }
}
