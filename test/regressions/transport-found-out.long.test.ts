import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { post, useHttpStage } from '../behaviour/http-stage.js'
import { wiretape } from '../behaviour/run-cli.js'
import { cli, printed, server, until } from '../behaviour/stage.js'
import { linesOfTape, type Line } from '../behaviour/tape-bytes.js'
import { legacyServer } from './legacy-server.js'

const stage = useHttpStage()

const params = { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
const initialize = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })

/** The transport of a recording in the output of every command. */
async function said(path: string): Promise<string[]> {
  const parsed = async (...args: string[]): Promise<Line> => JSON.parse((await wiretape(args)).stdout) as Line
  const inspected = (await parsed('inspect', '--json', path))['recordings'][0].sessions[0]
  await wiretape(['convert', path, stage.path('one.session.json'), '--to', 'session-json', '--force'])
  await wiretape(['convert', path, stage.path('one.jsonl'), '--force'])
  const session = JSON.parse(readFileSync(stage.path('one.session.json'), 'utf8')) as Line
  const shown = await wiretape(['proxy', 'inspect', '--session-file', stage.path('one.session.json')])
  const filtered = await wiretape(['inspect', path, '--filter', `transport:${inspected.transport}`])
  expect(filtered.stdout).toContain('initialize')
  return [
    inspected.transport,
    session['session']?.transport ?? session['transport'],
    /^Transport: (.*)$/m.exec(shown.stdout)?.[1] ?? '',
    linesOfTape(stage.path('one.jsonl'))[0]!['wiretape'].transport,
  ]
}

it('a stdio server that HTTP clients talk to is a stdio server, in every command', async () => {
  const saved = stage.path('saved.session.json')
  const argv = [process.execPath, cli, 'record', '--listen', '127.0.0.1:0', '--out', stage.out]
  const recorder = stage.start([...argv, '--session-file', saved, '--', ...server('mini-mcp.mjs')])
  await printed(recorder, '\n')
  expect((await post(recorder.stdout().toString().trim(), initialize)).status).toBe(200)
  const [meta] = await stage.end(recorder)
  expect(meta!['wiretape'].transport).toBe('stdio')
  expect(new Set(await said(stage.tape()))).toEqual(new Set(['stdio']))
  expect(new Set(await said(saved))).toEqual(new Set(['stdio']))
})

it('a server of HTTP+SSE is found out, in every command', async () => {
  const saved = stage.path('saved.session.json')
  const { recorder, url } = await stage.recordUrl(await stage.serve(legacyServer()), [
    '--session-file',
    saved,
  ])
  const stream = await fetch(url, { headers: { accept: 'text/event-stream' } })
  const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader()
  const endpoint = /^data: (.*)$/m.exec((await reader.read()).value!)![1]!
  await post(new URL(endpoint, url).href, initialize)
  expect((await reader.read()).value).toContain('"old"')
  await reader.cancel()
  await stage.end(recorder)
  expect(new Set(await said(stage.tape()))).toEqual(new Set(['sse']))
  expect(new Set(await said(saved))).toEqual(new Set(['sse']))
})

it('so is one that the bridge has probed in vain before', async () => {
  const upstream = await stage.serve(legacyServer())
  const bridge = stage.start([
    process.execPath,
    cli,
    'record',
    '--bridge',
    '--url',
    upstream,
    '--out',
    stage.out,
  ])
  await bridge.send(`${initialize}\n`)
  await until('it is answered', () => bridge.stdout().includes('"old"'))
  bridge.stdin.end()
  await bridge.ended
  expect(new Set(await said(stage.tape()))).toEqual(new Set(['sse']))
})
