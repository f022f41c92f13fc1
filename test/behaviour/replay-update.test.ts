import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createReplayStage, opening, type ReplayStage } from './replay-stage.js'

/** A server that sends its client requests before each response, with these words and with ids from that number on. */
const asking = (words: string, firstId: number, questions = 1): string[] => [
  process.execPath,
  '-e',
  `
  const say = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }))
  const wanted = []
  let nextId = ${firstId}
  const ask = () => say({ id: nextId++, method: 'elicitation/create', params: { message: '${words}' } })
  require('readline').createInterface(process.stdin).on('line', (line) => {
    const { id, method } = JSON.parse(line)
    if (method === 'initialize') say({ id, result: { protocolVersion: '2025-11-25', capabilities: {} } })
    else if (method === 'tools/call') {
      for (let i = 0; i < ${questions}; i += 1) wanted.push(id), ask()
    } else if (method === undefined) {
      const call = wanted.shift()
      if (!wanted.includes(call)) say({ id: call, result: { content: [{ type: 'text', text: '${words}' }] } })
    }
  })`,
]

describe('replay --update with a server whose requests changed', () => {
  let stage: ReplayStage
  beforeAll(async () => {
    stage = createReplayStage()
    const client = {
      messages: [...opening, ...[1, 2].map((id) => ({ id, method: 'tools/call', params: { name: 'x' } }))],
      answers: { 'elicitation/create': { result: { action: 'accept', content: {} } } },
    }
    await stage.record('asked.jsonl', client, asking('Which one?', 0))
  })
  afterAll(() => stage.close())

  const raws = (): { id?: unknown; method?: string; result?: { action?: string } }[] =>
    readFileSync(stage.path('asked.jsonl'), 'utf8')
      .trimEnd()
      .split('\n')
      .flatMap((line) => (JSON.parse(line) as { raw?: object }).raw ?? [])

  it('accepts the new requests, under the recorded ids, and finds no difference afterwards', async () => {
    const before = raws().map(({ id, method }) => [id, method])
    const updated = await stage.run('replay', 'asked.jsonl', '--update', '--', ...asking('Which two?', 500))
    expect(updated).toMatchObject({ code: 0, stderr: '' })
    expect(updated.stdout).toContain('Accepted 2 responses and 2 requests of the server into asked.jsonl')
    expect(updated.stdout).toMatch(/^ {2}#\d+ elicitation\/create \(sent by the server\)$/m)
    expect(raws().map(({ id, method }) => [id, method])).toEqual(before)
    expect(JSON.stringify(raws())).not.toContain('Which one?')
    const again = await stage.run('replay', 'asked.jsonl', '--', ...asking('Which two?', 900))
    expect(again).toMatchObject({ code: 0, stderr: '' })
  })

  it('reports a change that it cannot accept: one more request', async () => {
    const command = asking('Which two?', 0, 2)
    const updated = await stage.run('replay', 'asked.jsonl', '--update', '--', ...command)
    expect(updated.code).toBe(1)
    expect(updated.stdout).toContain('Not accepted: 2 exchanges')
  })
})
