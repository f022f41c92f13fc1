import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { replay } from '../../src/index.js'
import { createReplayStage, type Client, type ReplayStage } from './replay-stage.js'
import { server } from './stage.js'

const _meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
}
const book = { name: 'book', arguments: { what: 'a table' } }
const inputResponses = { confirm: { action: 'accept', content: { ok: true } } }

/** 2026-07-28: no handshake, and a tool that requests input in its result. */
const modern: Client = {
  messages: [
    { id: 0, method: 'server/discover', params: { _meta } },
    { id: 1, method: 'tools/list', params: { _meta } },
    // This argument is also sent in a header.
    { id: 9, method: 'tools/call', params: { name: 'echo', arguments: { text: 'x', place: 'Café' }, _meta } },
    { id: 2, method: 'tools/call', params: { ...book, _meta } },
    ({ result }) => ({
      id: 3,
      method: 'tools/call',
      params: { ...book, inputResponses, requestState: result.requestState, _meta },
    }),
  ],
}

describe('a recording of the 2026-07-28 era', () => {
  let stage: ReplayStage
  beforeAll(async () => {
    stage = createReplayStage()
    await stage.record('plain.jsonl', modern, server('modern-mcp.mjs'), '--no-redact-defaults')
    await stage.record(
      'redacted.jsonl',
      modern,
      server('modern-mcp.mjs'),
      '--redact',
      '[0-9a-f]{8}-[0-9a-f-]{27}',
    )
    await stage.record('sdk.jsonl', modern, server('sdk-modern.mjs'))
  })
  afterAll(() => stage.close())

  it.each(['plain', 'redacted'])('sends back the state of this run, from the %s recording', async (name) => {
    const text = readFileSync(stage.path(`${name}.jsonl`), 'utf8')
    expect(text.includes('"requestState":"[REDACTED]"')).toBe(name === 'redacted')
    const result = await replay(stage.path(`${name}.jsonl`), { command: server('modern-mcp.mjs') })
    expect(result).toMatchObject({ same: true, differences: [], counts: { same: 5 } })
    expect(result.messages.at(-1)!.replaced).toEqual(['/params/requestState'])
    expect(result.messages.at(-1)!.response).toContain('Booked a table')
  })

  it('goes to a server over HTTP as well, with the headers that it requires', async () => {
    const child = spawn(process.execPath, server('sdk-modern-http.mjs').slice(1), {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    try {
      const url = await new Promise<string>((done) =>
        child.stdout.once('data', (chunk: Buffer) => done(chunk.toString().trim().split('\n')[0]!)),
      )
      const result = await replay(stage.path('sdk.jsonl'), { url })
      expect(result.differences).toEqual([])
      expect(result.messages[2]!.response).toContain('"text":"x"')
    } finally {
      child.kill('SIGKILL')
      await new Promise((done) => child.once('close', done))
    }
  })
})
