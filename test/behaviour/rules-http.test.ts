import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { attach } from './attach.js'
import { cli, createStage, printed, until, type Actor, type Stage } from './stage.js'
import { linesOfTape, type Line } from './tape-bytes.js'

let stage: Stage
const servers: Server[] = []
beforeEach(() => {
  stage = createStage()
})
afterEach(async () => {
  for (const one of servers.splice(0)) {
    one.closeAllConnections()
    await new Promise((done) => one.close(done))
  }
  await stage.close()
})

/** A server by hand that answers every request with its params, as JSON or as events. */
async function echo(as: 'json' | 'events'): Promise<{ url: string; bodies: string[] }> {
  const bodies: string[] = []
  const one = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      bodies.push(body)
      const { id, params = null } = JSON.parse(body || '{}') as Line
      if (id === undefined) return response.writeHead(202).end()
      const answer = JSON.stringify({ jsonrpc: '2.0', id, result: { asked: params as unknown } })
      const type = as === 'json' ? 'application/json' : 'text/event-stream'
      response.writeHead(200, { 'content-type': type })
      return response.end(as === 'json' ? answer : `id: 1\ndata: ${answer}\n\n`)
    })
  }).listen(0, '127.0.0.1')
  servers.push(one)
  await new Promise((done) => one.once('listening', done))
  return { url: `http://127.0.0.1:${(one.address() as AddressInfo).port}/mcp`, bodies }
}

async function record(upstream: string, rules: string): Promise<{ recorder: Actor; url: string }> {
  writeFileSync(stage.path('rules.yaml'), rules)
  const argv = [cli, 'record', '--url', upstream, '--out', stage.out, '--rules', 'rules.yaml']
  const recorder = stage.start([process.execPath, ...argv], { detached: true })
  await printed(recorder, '\n')
  return { recorder, url: recorder.stdout().toString().trim() }
}

async function end(recorder: Actor): Promise<Line[]> {
  recorder.child.kill('SIGTERM')
  expect(await recorder.ended).toEqual({ exitCode: 0, signal: null })
  return linesOfTape(stage.tape())
}

const call = (id: number, argumentsText: string): string =>
  `{"jsonrpc":"2.0", "id":${id},"method":"tools/call","params":{"name":"echo","arguments":${argumentsText}}}`

async function post(url: string, body: string): Promise<string> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const response = await fetch(url, { method: 'POST', headers, body })
  return response.text()
}

const isMessage = (line: Line): boolean => line['type'] === undefined

describe.each(['json', 'events'] as const)('over HTTP, answers as %s, a rule', (as) => {
  it('takes away and replaces, in requests and answers, and every other character stays', async () => {
    const upstream = await echo(as)
    const { recorder, url } = await record(
      upstream.url,
      `rules:
        - { name: a, when: 'tool:echo', remove: ['$.params.arguments.secret'] }
        - { name: b, when: 'tool:echo', replace: { pattern: 'h(.)llo', with: 'y$1llo' } }
        - { name: c, when: 'tool:echo', on: answers, set: { '$.result.more': 1.0 } }`,
    )
    const got = await post(url, call(1, '{"secret":"x" ,"text":"hello", "n":1.50}'))
    expect(upstream.bodies).toEqual([call(1, '{"text":"yello", "n":1.50}')])
    expect(got).toContain(',"more":1.0}')
    const lines = (await end(recorder)).filter(isMessage)
    expect(lines.map(({ rule, modified }) => [rule, modified] as unknown)).toEqual([
      ['a, b', true],
      ['c', true],
    ])
  })

  it('repeats a request, also a delayed one', async () => {
    const upstream = await echo(as)
    const { recorder, url } = await record(
      upstream.url,
      `rules:
        - { name: twice, when: 'is:request', duplicate: true }
        - { name: later, when: 'id:2 is:request', delay: 20ms }`,
    )
    await post(url, call(1, '{}'))
    await post(url, call(2, '{}'))
    await until('both came twice', () => (upstream.bodies.length === 4 ? true : undefined))
    const lines = await end(recorder)
    expect(lines.filter((line) => isMessage(line) && line['dir'] === 'in' && line['injected'])).toMatchObject(
      [{ rule: 'twice' }, { rule: 'twice, later' }],
    )
  })

  it('cuts the exchange off', async () => {
    const upstream = await echo(as)
    const { recorder, url } = await record(
      upstream.url,
      `rules:
        - { name: in, when: 'id:1 is:request', disconnect: true }
        - { name: out, when: 'id:2 is:answer', disconnect: true }`,
    )
    await expect(post(url, call(1, '{}'))).rejects.toBeInstanceOf(TypeError)
    await expect(post(url, call(2, '{}'))).rejects.toBeInstanceOf(TypeError)
    expect(await post(url, call(3, '{}'))).toContain('"id":3')
    expect(upstream.bodies).toHaveLength(2)
    const lines = await end(recorder)
    expect(lines.filter(({ type }) => type === 'dropped')).toMatchObject([{ rule: 'in' }, { rule: 'out' }])
  })

  it('that cannot be applied fails closed for that message, and says so to its sender and on the tape', async () => {
    const upstream = await echo(as)
    const { recorder, url } = await record(
      upstream.url,
      `rules: [{ name: deep, when: 'is:request', set: { '$.params.arguments.a.b': 1 } }]`,
    )
    const problem = 'rule deep cannot be applied: $.params.arguments.a.b leads nowhere in it'
    expect(JSON.parse(await post(url, call(1, '{}')))).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: { code: -32603, message: `wiretape: ${problem}` },
    })
    expect(await post(url, call(2, '{"a":{}}'))).toContain('"a":{"b":1}')
    expect(upstream.bodies).toHaveLength(1)
    const lines = await end(recorder)
    expect(lines.find(({ type }) => type === 'dropped')).toMatchObject({ rule: 'deep', why: problem })
  })

  it('holds for a person', async () => {
    const upstream = await echo(as)
    const { recorder, url } = await record(
      upstream.url,
      `rules: [{ name: look, when: 'tool:echo', on: answers, hold: true }]`,
    )
    const screen = await attach(stage)
    const got = post(url, call(1, '{"text":"x"}'))
    const held = await screen.held()
    expect(held).toMatchObject({ reason: 'rule', by: 'look', direction: 'server_to_client' })
    await screen.tell({ type: 'forward', message: held['message'] })
    expect(await got).toContain('"text":"x"')
    screen.close()
    await end(recorder)
  })

  it('makes the same faults in every run of the same seed', async () => {
    const lost: boolean[][] = []
    for (let n = 0; n < 2; n += 1) {
      const upstream = await echo(as)
      const { recorder, url } = await record(
        upstream.url,
        `seed: 7
rules: [{ name: lost, when: 'is:request', drop: true, probability: 0.5 }]`,
      )
      const found: boolean[] = []
      for (let id = 0; id < 20; id += 1) found.push((await post(url, call(id, '{}'))).includes('-32000'))
      lost.push(found)
      recorder.child.kill('SIGTERM')
      await recorder.ended
    }
    expect(new Set(lost[0])).toEqual(new Set([true, false]))
    expect(lost[1]).toEqual(lost[0])
  })
})
