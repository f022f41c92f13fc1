import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CommandBody } from '../../src/control-schema/index.js'
import { Refusal, type CaptureConnection } from '../../src/control/index.js'
import { WiretapeError } from '../../src/model/index.js'
import { startUiServer, type Catalogue, type UiServer } from '../../src/ui-server/index.js'

let folder: string
let server: UiServer
let token: string
/** Commands that reached the capture. */
let sent: CommandBody[]
let closed: number
/** Commands that were started. */
let started: string[]
/** Queries that were run. */
let queries: string[]

/** A capture that has rules in force and refuses to drop. */
function capture(): CaptureConnection {
  let end: () => void = () => undefined
  const ended = new Promise<void>((resolve) => (end = resolve))
  async function* events() {
    const rules = { file: '/rules.yaml', count: 1 }
    yield { type: 'state', state: { hold: false, breakpoints: [], rules } }
    yield { type: 'record', line: '{"secret":1}' }
    await ended
  }
  return {
    hello: { label: 'one', transport: 'stdio' },
    events: events(),
    async send(command: CommandBody) {
      sent.push(command)
      if (command.type === 'drop') throw new Refusal({ code: 'not-held', message: 'it is not held' })
      return {}
    },
    close() {
      closed += 1
      end()
    },
  } as unknown as CaptureConnection
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'wiretape-act-'))
  const viewer = join(folder, 'viewer')
  mkdirSync(viewer)
  writeFileSync(join(viewer, 'index.html'), '<html data-mode="static"><body></body></html>')
  for (const name of ['viewer.js', 'viewer.css', 'patterns.js', 'views.js'])
    writeFileSync(join(viewer, name), '')
  writeFileSync(join(folder, 'acting.js'), 'act()')
  sent = []
  closed = 0
  started = []
  queries = []
  const catalogue: Catalogue = {
    given: async () => [],
    recordings: async () => [],
    pathOf: async () => undefined,
    attend: async () => undefined,
    progressOf: async () => ({ live: false }),
    async sql(query, signal) {
      queries.push(query)
      if (query === 'selec') throw new WiretapeError('usage', 'the query failed', { hint: 'write it anew' })
      if (query === 'forever') {
        await once(signal, 'abort')
        queries.push('ended')
      }
      return {
        columns: [{ name: '1', isNumber: true }],
        rows: [{ values: ['1'] }],
        csv: '1\r\n1\r\n',
        isCut: false,
      }
    },
    control: async (id) => (id === 'one' ? capture() : undefined),
    server: async (id) =>
      id === 'mine'
        ? { shown: 'node mine.js', command: ['node', 'mine.js'], folder: '/', environment: ['PATH'] }
        : { shown: 'rm -rf /', why: 'it was not recorded here' },
    recorder: ({ shown }) => ({
      open: async () => {
        started.push(shown)
        return { error: 'it does not start' }
      },
      recording: async () => 'new',
    }),
  }
  server = await startUiServer({ catalogue, viewer, acting: join(folder, 'acting.js'), port: 0 })
  const code = new URL(server.newAddress()).hash.replace('#once=', '')
  const given = await ask('GET', '/api/token', { authorization: `Once ${code}` })
  token = (JSON.parse(given.body) as { token: string }).token
})
afterEach(async () => {
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})

async function opened(
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: string,
): Promise<IncomingMessage> {
  const asked = request({ host: '127.0.0.1', port: server.port, path, method, headers }).end(body)
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  response.setEncoding('utf8')
  return response
}

async function ask(
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: string,
): Promise<{ status: number; body: string }> {
  const response = await opened(method, path, headers, body)
  let text = ''
  for await (const piece of response) text += String(piece)
  return { status: response.statusCode!, body: text }
}

/** The headers of the page. */
function page(): Record<string, string> {
  return {
    authorization: `Bearer ${token}`,
    origin: `http://127.0.0.1:${server.port}`,
    'x-wiretape-act': '1',
    'content-type': 'application/json',
  }
}

const stream = '/api/recordings/one/control'

/** Attaches; returns the path for commands, and the lines of the capture so far. */
async function attached(): Promise<{ path: string; lines: () => string[]; leave: () => void }> {
  const { origin: _, 'content-type': __, ...headers } = page()
  const response = await opened('GET', stream, headers)
  expect(response.statusCode).toBe(200)
  let text = ''
  response.on('data', (piece: string) => (text += piece))
  response.on('error', () => undefined)
  const lines = (): string[] => text.split('\n').filter((line) => line !== '')
  while (lines().length < 2) await new Promise((done) => setImmediate(done))
  const { id } = JSON.parse(lines()[0]!) as { id: string }
  return { path: `/api/control/${id}`, lines, leave: () => response.destroy() }
}

describe('acting from the page of wiretape ui', () => {
  it('carries a command out, and gives the reply of the control protocol', async () => {
    const { path, lines, leave } = await attached()
    const run = async (command: unknown): Promise<unknown> =>
      JSON.parse((await ask('POST', path, page(), JSON.stringify(command))).body) as unknown
    expect(await run({ type: 'hold', id: 7, on: true })).toEqual({
      type: 'reply',
      id: 7,
      ok: true,
      result: {},
    })
    expect(await run({ type: 'drop', id: 8, message: 'm' })).toMatchObject({
      id: 8,
      ok: false,
      error: { code: 'not-held' },
    })
    expect(await run({ type: 'hold', id: 9 })).toMatchObject({ id: 9, ok: false, error: { code: 'invalid' } })
    expect(sent).toEqual([
      { type: 'subscribe', from: 'now' },
      { type: 'hold', on: true },
      { type: 'drop', message: 'm' },
    ])
    // The recording itself comes another way.
    expect(lines().join()).not.toContain('secret')
    leave()
    while (closed === 0) await new Promise((done) => setImmediate(done))
    expect((await ask('POST', path, page(), '{"type":"hold","id":1,"on":true}')).status).toBe(404)
  })

  it.each([
    { type: 'stop' },
    { type: 'save', path: '/tmp/x' },
    { type: 'subscribe' },
    { type: 'hello', protocol: 1, role: 'screen' },
    { type: 'rules', file: '/etc/passwd' },
    { type: 'inject', direction: 'server_to_client', text: '{}' },
    { type: 'inject', direction: 'client_to_server', text: '{}', answer: 'pass' },
  ])('does not let a page %j', async (command) => {
    const { path } = await attached()
    const { body } = await ask('POST', path, page(), JSON.stringify({ ...command, id: 1 }))
    expect(JSON.parse(body)).toMatchObject({ ok: false, error: { code: 'invalid' } })
    expect(sent).toEqual([{ type: 'subscribe', from: 'now' }])
  })

  it('turns rules off, and those on again that were in force', async () => {
    const { path } = await attached()
    for (const file of [null, '/rules.yaml'])
      await ask('POST', path, page(), JSON.stringify({ type: 'rules', id: 1, file }))
    expect(sent.slice(1)).toEqual([
      { type: 'rules', file: null },
      { type: 'rules', file: '/rules.yaml' },
    ])
  })

  it.each([
    ['without the token', { authorization: '' }, 403],
    ['with a wrong token', { authorization: 'Bearer wrong' }, 403],
    ['without the header', { 'x-wiretape-act': '' }, 403],
    ['of a page of another site', { origin: 'https://evil.example' }, 403],
    ['of a page of another port', { origin: 'http://127.0.0.1:1' }, 403],
    ['of a page from a file', { origin: 'null' }, 403],
    ['that names no origin', { origin: '' }, 403],
    ['that a browser says another site made', { 'sec-fetch-site': 'cross-site' }, 403],
    ['as a form would send it', { 'content-type': 'text/plain' }, 415],
    ['of another name for this machine', { host: 'evil.example' }, 403],
  ])('refuses a command %s', async (_, wrong, status) => {
    const { path } = await attached()
    const headers = Object.fromEntries(
      Object.entries({ ...page(), ...wrong }).filter(([, value]) => value !== ''),
    ) as Record<string, string>
    expect((await ask('POST', path, headers, '{"type":"hold","id":1,"on":true}')).status).toBe(status)
    expect(sent).toEqual([{ type: 'subscribe', from: 'now' }])
    expect((await ask('POST', '/api/sql', headers, '{"query":"select 1"}')).status).toBe(status)
    expect(queries).toEqual([])
  })

  it('answers a query, says in a sentence why it cannot, and ends one whose page went away', async () => {
    const answer = await ask('POST', '/api/sql', page(), '{"query":"select 1"}')
    expect(JSON.parse(answer.body)).toMatchObject({ rows: [{ values: ['1'] }], isCut: false })
    expect(await ask('POST', '/api/sql', page(), '{"query":"selec"}')).toEqual({
      status: 400,
      body: 'the query failed (write it anew)\n',
    })
    expect((await ask('POST', '/api/sql', page(), '{"query":1}')).status).toBe(400)
    expect((await ask('GET', '/api/sql', page())).status).toBe(405)

    const { port } = server
    const going = request({ host: '127.0.0.1', port, path: '/api/sql', method: 'POST', headers: page() })
    going.on('error', () => undefined)
    going.end('{"query":"forever"}')
    while (!queries.includes('forever')) await new Promise((done) => setImmediate(done))
    going.destroy()
    while (!queries.includes('ended')) await new Promise((done) => setImmediate(done))
  })

  it('attaches no page without the token and the header, nor one of another site', async () => {
    for (const wrong of [{ authorization: '' }, { 'x-wiretape-act': '' }, { origin: 'http://127.0.0.1:1' }]) {
      const headers = Object.fromEntries(
        Object.entries({ ...page(), ...wrong }).filter(([, value]) => value !== ''),
      ) as Record<string, string>
      expect((await ask('GET', stream, headers)).status).toBe(403)
    }
    expect((await ask('GET', '/api/recordings/two/control', page())).status).toBe(404)
    expect((await ask('OPTIONS', stream, page())).status).toBe(405)
    expect((await ask('POST', stream, page(), '{}')).status).toBe(405)
    expect(sent).toEqual([])
  })

  it('starts the server of a recording only for the code of what was shown, and once', async () => {
    const shown = await ask('GET', '/api/recordings/mine/server', page())
    const { code, ...told } = JSON.parse(shown.body) as { code: string }
    expect(told).toEqual({ shown: 'node mine.js', folder: '/', environment: ['PATH'] })
    const connect = (body: unknown, headers = page()): Promise<{ status: number; body: string }> =>
      ask('POST', '/api/sessions', headers, JSON.stringify(body))
    for (const wrong of [
      {},
      { code: '' },
      { code: 'guessed' },
      { code, command: ['sh'] },
      { shown: 'node mine.js' },
    ])
      expect((await connect(wrong)).status).toBe(409)
    const { 'x-wiretape-act': _, ...withoutHeader } = page()
    expect((await connect({ code }, withoutHeader)).status).toBe(403)
    expect((await connect({ code }, { ...page(), origin: 'http://evil.example' })).status).toBe(403)
    expect((await connect({ code }, { ...page(), authorization: 'Bearer wrong' })).status).toBe(403)
    expect((await connect({ code }, { ...page(), 'content-type': 'text/plain' })).status).toBe(415)
    expect(started).toEqual([])
    expect(await connect({ code })).toEqual({ status: 502, body: 'it does not start\n' })
    expect((await connect({ code })).status).toBe(409)
    expect(started).toEqual(['node mine.js'])
  })

  it('gives no code for a server that may not be run, and shows nothing to other pages', async () => {
    const shown = await ask('GET', '/api/recordings/other/server', page())
    expect(JSON.parse(shown.body)).toEqual({ shown: 'rm -rf /', why: 'it was not recorded here' })
    const { 'x-wiretape-act': _, ...withoutHeader } = page()
    expect((await ask('GET', '/api/recordings/mine/server', withoutHeader)).status).toBe(403)
    expect((await ask('GET', '/api/sessions', withoutHeader)).status).toBe(403)
    expect((await ask('POST', '/api/sessions/none', page(), '{"type":"close"}')).status).toBe(404)
  })

  it('serves the acting script', async () => {
    expect((await ask('GET', '/acting.js', {})).body).toBe('act()')
  })
})
