import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { attach } from './attach.js'
import { useExplained } from './explained.js'
import { answers, call, ping } from './mini-talk.js'
import { server, until } from './stage.js'

const { stage, explain, told, got, record } = useExplained()

const say = (message: object): string => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`
const ask = (id: unknown, method: string, params?: object): string =>
  say({ id, method, ...(params && { params }) })

describe('wiretape explain of a server on stdio', () => {
  it('says that a call was not answered while the server was running', async () => {
    const recorder = record(server('odd-mcp.mjs'))
    await recorder.send(ask(1, 'never') + ping(2))
    await got(recorder, 1)
    const all = await told(recorder)
    expect(all).toMatch(/^#0 {2}never: The session ended before the server answered\.$/m)
    expect(all).toContain('1 of 2 requests failed')
    const one = await explain('0')
    expect(one).toMatch(/The server sent 1 other message after the request, .* so it was running/)
    expect(one).toMatch(/The server process exited with status 0 .* later/)
    expect(one).toContain('At fault: not proven')
    expect(one).toContain('Whether the client closed the session first')
  })

  it('says that the client did not respond to a request of the server', async () => {
    const recorder = record(server('odd-mcp.mjs'))
    await recorder.send(ask(1, 'ask'))
    await got(recorder, 1)
    expect(await told(recorder, '1')).toContain('The server sent roots/list')
    expect(await explain('1')).toContain('The client sent nothing after the request')
  })

  it('says who cancelled, and why', async () => {
    const recorder = record(server('odd-mcp.mjs'))
    const params = { requestId: 1, reason: 'Request timed out' }
    await recorder.send(ask(1, 'never') + say({ method: 'notifications/cancelled', params }) + ping(2))
    await got(recorder, 1)
    const one = await told(recorder, '0')
    expect(one).toMatch(/The client cancelled it after .*: “Request timed out”/)
    expect(one).toContain('until then, the server had sent nothing for it')
    expect(one).toContain('Whether the server would have answered')
  })

  it('says which request was refused, and that the client repeated it', async () => {
    const recorder = record(server('mini-mcp.mjs'))
    await recorder.send(call(1, 'nope') + call(2, 'nope'))
    await got(recorder, 2)
    const one = await told(recorder, '0')
    expect(one).toMatch(/refused it after .* with error -32\d+|The tool failed after/)
    expect(one).toMatch(/The client sent the same request again .* \(#[12]\) and was refused again/)
  })

  it('says how a person changed a held call', async () => {
    const recorder = record(server('mini-mcp.mjs'))
    const screen = await attach(stage)
    await screen.tell({ type: 'hold', on: true })
    await recorder.send(call(1, 'echo', { text: 'a' }))
    await screen.tell({ type: 'drop', message: (await screen.held(1))['message'] })
    await recorder.send(call(2, 'echo', { text: 'b' }))
    await screen.tell({ type: 'answer', message: (await screen.held(2))['message'], result: '{}' })
    await recorder.send(call(3, 'echo', { text: 'c' }))
    await screen.tell({ type: 'forward', message: (await screen.held(3))['message'] })
    await screen.tell({ type: 'forward', message: (await screen.held(4))['message'] })
    const all = await told(recorder)
    expect(all).toContain('2 of 3 requests failed')
    expect(await explain('0')).toMatch(
      /held it for .* and then did not forward it to the server \(by a person\)/,
    )
    const answered = await explain('1')
    expect(answered).toMatch(/A person using wiretape answered after .* \(#2\)/)
    expect(answered).toContain('At fault: a person using wiretape. A person answered in place of the server')
    const released = await explain('3')
    expect(released).toMatch(/held it for .* until a person, a time limit or the end of the hold released it/)
    expect(released).toMatch(/wiretape held the response for .* ms/)
  })

  it('says that a signal ended the server', async () => {
    writeFileSync(
      stage.path('dies.mjs'),
      `process.stdin.once('data', () => process.kill(process.pid, 'SIGKILL'))`,
    )
    const recorder = record([process.execPath, stage.path('dies.mjs')])
    await recorder.send(call(1, 'search'))
    await recorder.ended
    const one = await explain('0')
    expect(one).toMatch(/The server process was ended by SIGKILL .* later/)
    expect(one).toContain('Who sent SIGKILL: the client, the system or a person')
  })

  it('says that a response came after the cancellation, and that the request was repeated', async () => {
    writeFileSync(
      stage.path('twice.mjs'),
      `import { createInterface } from 'node:readline'
       let asked
       for await (const line of createInterface(process.stdin)) {
         const { id, method } = JSON.parse(line)
         const say = (id) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result: {} }))
         if (method === 'notifications/cancelled') { say(asked); continue }
         if (method === 'ping') { say(id); say(id); continue }
         asked = id
       }`,
    )
    const recorder = record([process.execPath, stage.path('twice.mjs')])
    const params = { requestId: 1 }
    await recorder.send(call(1, 'search') + say({ method: 'notifications/cancelled', params }))
    await got(recorder, 1)
    await recorder.send(ping(2))
    await got(recorder, 3)
    const one = await told(recorder, '0')
    expect(one).toContain('and gave no reason')
    expect(one).toMatch(/The response came .* after the cancellation/)
    const twice = await explain('3')
    expect(twice).toContain('The server answered again')
    expect(twice).toContain('At fault: the server. The server answered one request more than once.')
  })

  it('shows progress, the polls of a task, and other lines between request and response', async () => {
    const recorder = record(server('mini-mcp.mjs'))
    const params = { name: 'progress', arguments: { steps: 3 }, _meta: { progressToken: 't' } }
    await recorder.send(ask(1, 'tools/call', params))
    await got(recorder, 4)
    expect(await told(recorder, '0')).toMatch(/Progress was reported 3 times, last after .*: 3 of 3\. \(#3\)/)
  })

  it('follows a task', async () => {
    const recorder = record(server('task-mcp.mjs'))
    await recorder.send(
      ask(0, 'initialize', {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'c', version: '1' },
      }),
    )
    await got(recorder, 1)
    await recorder.send(ask(1, 'tools/call', { name: 'research', arguments: {}, task: { ttl: 60_000 } }))
    await got(recorder, 2)
    const { taskId } = (answers(recorder)[1] as { result: { task: { taskId: string } } }).result.task
    await recorder.send(ask(2, 'tasks/get', { taskId }) + ask(3, 'tasks/get', { taskId }))
    await got(recorder, 4)
    const one = await told(recorder, '2')
    expect(one).toContain('The server created a task for it')
    expect(one).toMatch(/The client polled its task 2 times; its last status was “\w+”/)
  })

  it('says that the recording was cut off, and that a line was not JSON', async () => {
    writeFileSync(stage.path('odd.mjs'), `process.stdin.once('data', () => console.log('Listening'))`)
    const recorder = record([process.execPath, stage.path('odd.mjs')])
    await recorder.send(call(1, 'search'))
    await until('the noise', () => recorder.stdout().includes('Listening') || undefined)
    const all = await told(recorder, '0')
    expect(all).toContain('Meanwhile, the server wrote 1 line that is not JSON: “Listening”')
    expect(all).toContain('Whether the response is among the lines that are not JSON')
    const lines = readFileSync(stage.tape(), 'utf8').split('\n')
    writeFileSync(stage.tape(), `${lines.slice(0, 2).join('\n')}\n`)
    const cut = await explain('0')
    expect(cut).toContain('The recording is recovered, truncated or live: its end is unknown')
    expect(cut).toContain('Whether the response came after the recording was truncated')
    expect(await explain()).toContain('The recording is incomplete')
  })
})
