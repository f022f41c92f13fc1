import { createServer, get, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Catalogue } from '../../src/ui-server/index.js'
import type { ClientRole, OpenServer } from '../../src/replay/index.js'
import { openSession } from '../../src/ui-server/client-session.js'
import { createSessions } from '../../src/ui-server/sessions.js'

let http: Server
let role: ClientRole
/** Of all sessions, in order. */
let roles: ClientRole[]
let closed: number

const open = async (given: ClientRole): Promise<OpenServer> => {
  role = given
  roles.push(given)
  const close = async (): Promise<void> => void (closed += 1)
  return { close } as unknown as OpenServer
}

beforeEach(async () => {
  closed = 0
  roles = []
  const catalogue = {
    server: async () => ({ shown: 'kettle', command: ['kettle'] }),
    recorder: () => ({ open, recording: async () => `recording ${roles.length}` }),
  } as unknown as Catalogue
  const sessions = createSessions(catalogue)
  http = createServer((request, response) => {
    if (request.url === '/show') void sessions.show('one', response)
    else if (request.url === '/connect') void sessions.connect(request, response)
    else if (request.url === '/list') sessions.list(response)
    else if (request.method === 'POST') void sessions.command(request.url!.slice(1), request, response)
    else sessions.follow(request.url!.slice(1), response)
  })
  await new Promise<void>((done) => http.listen(0, '127.0.0.1', done))
})
afterEach(() => {
  http.closeAllConnections()
  http.close()
})

const at = (path: string): string => `http://127.0.0.1:${(http.address() as AddressInfo).port}/${path}`

async function tryToConnect(): Promise<Response> {
  const { code } = (await (await fetch(at('show'))).json()) as { code: string }
  return fetch(at('connect'), { method: 'POST', body: JSON.stringify({ code }) })
}

async function connect(): Promise<string> {
  return ((await (await tryToConnect()).json()) as { id: string }).id
}

interface Listed {
  readonly recording: string
  readonly isKept: boolean
  readonly ended?: string
}

const list = async (): Promise<Listed[]> => (await (await fetch(at('list'))).json()) as Listed[]

/** Keeps a session open without a page. */
async function keep(id: string): Promise<void> {
  await fetch(at(id), { method: 'POST', body: '{"type":"keep","on":true}' })
}

const follow = (id: string): Promise<IncomingMessage> =>
  new Promise((done, failed) => get(at(id), done).once('error', failed))

const notify = (text: string): void => {
  const notification = `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"${text}"}}`
  role.notification(notification)
}

async function textOf(stream: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of stream.setEncoding('utf8')) text += chunk as string
  return text
}

describe('the sessions of wiretape ui', () => {
  it('lets a number of pages follow a session, and not more', async () => {
    const id = await connect()
    for (let page = 0; page < 16; page += 1) expect((await follow(id)).statusCode).toBe(200)
    expect((await follow(id)).statusCode).toBe(503)
  })

  it('keeps no flood of notifications for a page that reads slowly, which gets the rest in order', async () => {
    const id = await connect()
    const slow = await follow(id)
    const big = 'x'.repeat(1_000_000)
    for (let i = 0; i < 100; i += 1) notify(`${i} ${big}`)
    role.ended('the server has ended')
    const lines = (await textOf(slow)).trim().split('\n')
    const events = lines.map((line) => JSON.parse(line) as { readonly type: string; readonly text?: string })
    expect(events[0]!.type).toBe('session')
    expect(events.at(-1)!.type).toBe('ended')
    const numbers = events.slice(1, -1).map(({ text }) => Number(/"data":"(\d+)/.exec(text!)![1]))
    expect(numbers.length).toBeLessThan(20)
    expect(numbers).toEqual(numbers.map((_, i) => i))
  })

  it('gives the place of a kept session to another once its server has ended, and says why it ended', async () => {
    for (let i = 0; i < 16; i += 1) await keep(await connect())
    expect((await tryToConnect()).status).toBe(503)
    roles[3]!.ended('the server exited with 1')
    expect(closed).toBe(1)
    await keep(await connect())
    expect((await tryToConnect()).status).toBe(503)
    const listed = await list()
    expect(listed).toHaveLength(17)
    expect(listed.filter(({ ended }) => ended !== undefined)).toEqual([
      { id: expect.any(String), recording: 'recording 4', isKept: true, ended: 'the server exited with 1' },
    ])
  })

  it('remembers the last sixteen sessions that ended', async () => {
    for (let i = 0; i < 20; i += 1) {
      await keep(await connect())
      role.ended(`end ${i + 1}`)
    }
    expect((await list()).map(({ ended }) => ended)).toEqual(
      Array.from({ length: 16 }, (_, i) => `end ${i + 5}`),
    )
  })

  it('closes a server whose recording is not found', async () => {
    const failing = openSession(() => Promise.reject(new Error('no recording')), open)
    await expect(failing).rejects.toThrow('no recording')
    expect(closed).toBe(1)
  })

  it('ends requests without a response when the session is closed', async () => {
    const waits: OpenServer['ask'] = (_, cancel) =>
      new Promise((settle) => cancel!.addEventListener('abort', () => settle({ error: 'it was cancelled' })))
    const session = await openSession(
      async () => 'one',
      async (given) => ({ ...(await open(given)), ask: waits }),
    )
    if ('error' in session) throw new Error(session.error)
    const asked = session.ask('key', 'tools/list', '{}')
    await session.close()
    expect(await asked).toMatchObject({ error: 'it was cancelled' })
    expect(closed).toBe(1)
  })
})
