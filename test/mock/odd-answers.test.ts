import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterAll, describe, expect, it } from 'vitest'
import { mock, type Mock, type MockOptions } from '../../src/mock/index.js'
import { createConversation } from '../../src/mock/conversation.js'
import { readPlay } from '../../src/mock/read-play.js'
import type { ServerMessage } from '../../src/link/index.js'
import { decodeLine } from '../../src/formats/index.js'

const folder = mkdtempSync(join(tmpdir(), 'wiretape-mock-odd-'))
afterAll(() => rmSync(folder, { recursive: true }))

const ask = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'a', arguments: {} } }
const answer = { jsonrpc: '2.0', id: 1, result: { content: [] } }
const time = '2026-08-01T10:00:00.000Z'
const meta = {
  v: 1,
  type: 'meta',
  startedAt: time,
  label: 'x',
  command: [],
  wiretape: { version: '0.1.0', session: 's', transport: 'streamable-http', url: 'http://127.0.0.1:1/mcp' },
}

/** A tape of a call over HTTP, and of what came 300 ms later. */
function linesOf(...came: object[]): string[] {
  const asked = {
    t: time,
    dir: 'in',
    raw: ask,
    id: 'q',
    seq: 0,
    us: 0,
    http: { exchange: 0, method: 'POST' },
  }
  const later = came.map((record) => ({ t: time, us: 300_000, ...record }))
  return [meta, asked, ...later].map((line) => JSON.stringify(line))
}

function refusal(status: number): object {
  return { type: 'http', exchange: 0, method: 'POST', path: '/mcp', status, body: 'Oops' }
}

function answered(status: number): object {
  return { dir: 'out', raw: answer, id: 'a', corr: 'q', seq: 1, http: { exchange: 0, status } }
}

async function serving<T>(
  lines: readonly string[],
  options: MockOptions,
  work: (server: Mock) => Promise<T>,
): Promise<T> {
  const tape = join(folder, 'talk.jsonl')
  writeFileSync(tape, `${lines.join('\n')}\n`)
  const server = await mock(tape, options)
  try {
    return await work(server)
  } finally {
    await server.close()
  }
}

async function said(lines: readonly string[], options: MockOptions, body: unknown = ask): Promise<unknown> {
  return serving(lines, options, async ({ url }) => {
    const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' }
    const response = await fetch(url!, { method: 'POST', headers, body: JSON.stringify(body) })
    const type = response.headers.get('content-type')
    return { status: response.status, type, text: await response.text() }
  })
}

describe('a mock over HTTP', () => {
  it.each(['fast', 'recorded'])('gives a refusal that came late as it was, at pace %s', async (pace) => {
    const got = await said(linesOf(refusal(502)), { pace })
    expect(got).toEqual({ status: 502, type: 'text/plain; charset=utf-8', text: 'Oops' })
  })

  it('gives an answer that came late as one JSON object with its status, where it was one', async () => {
    const got = await said(linesOf(answered(400)), { pace: 'recorded' })
    expect(got).toEqual({ status: 400, type: 'application/json', text: JSON.stringify(answer) })
  })

  it('says on the stream of a batch that a call of it was refused', async () => {
    const ping = { jsonrpc: '2.0', id: 2, method: 'ping' }
    const got = (await said(linesOf(refusal(502)), { pace: 'fast' }, [ping, ask])) as { text: string }
    expect(got).toMatchObject({ status: 200, type: 'text/event-stream' })
    const error = {
      code: -31404,
      message: 'wiretape mock: tools/call a got no response in the recording (#0)',
    }
    const events = got.text.split('\n').filter((line) => line.startsWith('data: '))
    expect(events.map((line) => JSON.parse(line.slice(6)))).toMatchObject([
      { id: 2, result: {} },
      { id: 1, error },
    ])
  })

  it.each([100, 199, 204, 304, 1000, 70_000])('takes the status %i of an answer for none', async (status) => {
    const got = await said(linesOf(answered(status)), {})
    expect(got).toEqual({ status: 200, type: 'application/json', text: JSON.stringify(answer) })
  })

  it('takes a response whose status is none for no answer', async () => {
    const changed = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' }
    const got = await said(linesOf(refusal(1000), { dir: 'out', raw: changed, http: { exchange: 9 } }), {})
    expect(got).toMatchObject({ status: 200, text: expect.stringMatching(/"id":1,"error".*"unanswered"/) })
  })
})

describe('a mock that fails at a call', () => {
  /** A conversation whose recording can no longer be read. */
  async function broken(
    isBroken: (row: number) => boolean,
  ): Promise<{ said: ServerMessage[]; faults: string[] }> {
    const records = linesOf(answered(200)).map((line) => {
      const decoded = decodeLine(line)
      if ('fault' in decoded) throw new Error(decoded.fault.message)
      return decoded.record
    })
    const play = await readPlay({
      async *records() {
        yield* await Promise.resolve(records)
      },
    })
    const { script } = play
    const heard: ServerMessage[] = []
    const faults: string[] = []
    const sink = { isOpen: true, send: (message: ServerMessage) => Promise.resolve(void heard.push(message)) }
    const conversation = createConversation({
      play: {
        ...play,
        script: {
          ...script,
          length: script.length,
          text(row) {
            if (isBroken(row)) throw new Error('the disk is gone')
            return script.text(row)
          },
        },
      },
      recorded: 0,
      repeatLast: false,
      pace: { factor: 0 },
      standalone: sink,
      onServed: () => undefined,
      onMiss: () => undefined,
      onFault: (line) => void faults.push(line),
      onDeath: () => undefined,
    })
    conversation.take(JSON.stringify(ask), sink)
    await conversation.end()
    await conversation.close()
    play.close()
    return { said: heard, faults }
  }

  it('tells the client and whoever runs it', async () => {
    const { said: heard, faults } = await broken((row) => row === 1)
    const error = {
      code: -32603,
      message: 'wiretape mock: tools/call a cannot be answered: the disk is gone',
    }
    expect(heard.map(({ text, final }) => ({ ...(JSON.parse(text) as object), final }))).toEqual([
      { jsonrpc: '2.0', id: 1, error, final: true },
    ])
    expect(faults).toEqual(['tools/call a cannot be answered: the disk is gone'])
  })

  it('goes on with the line after one that it failed at', async () => {
    const [input, output] = [new PassThrough(), new PassThrough()]
    const notices: string[] = []
    let missed = 0
    const options: MockOptions = {
      streams: { input, output },
      onNotice: (line) => void notices.push(line),
      onMiss() {
        missed += 1
        throw new Error('no misses, please')
      },
    }
    const text = await serving(linesOf(answered(200)), options, async ({ ended }) => {
      input.end(`${JSON.stringify({ ...ask, id: 2, method: 'no/such' })}\n${JSON.stringify(ask)}\n`)
      await ended
      return String(output.read())
    })
    expect(missed).toBe(1)
    expect(notices).toEqual(['no/such a cannot be answered: no misses, please'])
    const said = text.trimEnd().split('\n')
    expect(said.map((line) => JSON.parse(line) as object)).toEqual(
      expect.arrayContaining([answer, expect.objectContaining({ id: 2, error: expect.anything() })]),
    )
  })
})
