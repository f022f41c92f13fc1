import { readFileSync } from 'node:fs'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, describe, expect, it } from 'vitest'
import { attach } from '../behaviour/attach.js'
import { createStage, readIfThere, server, until } from '../behaviour/stage.js'
import { everythingOnStdio as everything } from './everything.js'
import type { Line } from '../behaviour/tape-bytes.js'
import { messagesOf } from './tape-of.js'

const stage = createStage()
afterAll(() => stage.close())

describe('an SDK client whose call is held and edited', () => {
  it('gets the response to the edited call from server-everything; tape and session file have both', async () => {
    const sessionFile = stage.path('session.json')
    const options = ['--break', 'method:tools/call is:request', '--session-file', sessionFile]
    const [command = '', ...args] = stage.record(everything, options)
    const transport = new StdioClientTransport({
      command,
      args,
      cwd: stage.folder,
      env: stage.env as Record<string, string>,
      stderr: 'ignore',
    })
    const client = new Client({ name: 'test-client', version: '1.0.0' })
    await client.connect(transport)
    const [screen, onlooker] = [await attach(stage), await attach(stage, { role: 'onlooker' })]
    const other = await attach(stage)
    const answer = client.callTool({ name: 'echo', arguments: { message: 'as it was' } })
    const held = await screen.held()
    // Other requests pass meanwhile, and both screens have the same events.
    await client.ping()
    expect((await other.held())['message']).toBe(held['message'])
    await other.tell({
      type: 'edit',
      message: held['message'],
      text: held['text'].replace('as it was', 'as it is'),
    })
    expect(await answer).toMatchObject({ content: [{ text: 'Echo: as it is' }] })
    expect(await screen.ask({ type: 'drop', message: held['message'] })).toMatchObject({
      error: { code: 'not-held' },
    })
    await client.close()
    await onlooker.closed
    expect(onlooker.events.filter(({ type }) => type === 'held')).toEqual([])
    const messages = messagesOf(stage.tape())
    const call = messages.find(({ raw }) => raw.method === 'tools/call')!
    expect(call).toMatchObject({
      id: held['message'],
      modified: true,
      raw: { params: { arguments: { message: 'as it is' } } },
      original: { params: { arguments: { message: 'as it was' } } },
    })
    expect(messages.find(({ corr }) => corr === call.id)).toBeDefined()
    await until('the session file is saved', () => readIfThere(sessionFile).endsWith('}'))
    const session = JSON.parse(readFileSync(sessionFile, 'utf8')) as Line
    const entry = (session['messages'] as Line[]).find(({ proxy_id: id }) => id === call.id)
    expect(entry).toMatchObject({
      modified: true,
      payload: { params: { arguments: { message: 'as it is' } } },
      original_payload: { params: { arguments: { message: 'as it was' } } },
    })
  })
})

describe('an onlooker that does not read', () => {
  it('delays no message; when it reads again, it learns how many events it missed', async () => {
    const flood = createStage()
    try {
      const [node, script] = server('flood.mjs')
      const waits = `read line; exec '${node}' '${script}' 26000 1000 --stay`
      const recorder = flood.start(flood.record(['sh', '-c', waits], ['--no-redact-defaults']))
      const onlooker = await attach(flood, { role: 'onlooker' })
      await onlooker.event('it is up to date', ({ type }) => type === 'live')
      onlooker.sleep()
      await recorder.send('{"jsonrpc":"2.0","id":1,"method":"go"}\n')
      await until('all passed', () => recorder.stdout().length >= 26_000_000, 60_000)
      onlooker.wake()
      const gap = await onlooker.event('it hears of a gap', ({ type }) => type === 'gap')
      expect(gap['lines']).toBeGreaterThan(1000)
      recorder.stdin.end()
    } finally {
      await flood.close()
    }
  })
})
