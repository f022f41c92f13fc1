import { createServer, get, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Catalogue } from '../../src/ui-server/index.js'
import type { ClientRole, OpenServer } from '../../src/replay/index.js'
import type { SessionEvent } from '../../src/ui-server/session-event.js'
import { readEnvelope } from '../../src/wire/index.js'
import { openSession } from '../../src/ui-server/client-session.js'
import { Sessions } from '../../src/ui-server/sessions.js'

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
  const sessions = new Sessions(catalogue)
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

/** A response to a request of a server. */
interface Told {
  readonly id?: number
  readonly result?: {
    readonly status?: string
    readonly task?: { readonly taskId: string }
    readonly tasks?: readonly { readonly status: string }[]
  }
  readonly error?: { readonly code: number; readonly message: string }
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

  it('runs requests of the server as tasks: it asks a person once, and the server fetches the answer', async () => {
    const told: Told[] = []
    const tell = async (text: string): Promise<void> => void told.push(JSON.parse(text) as Told)
    const session = await openSession(
      async () => 'one',
      async (given) => ({ ...(await open(given)), tell }),
    )
    if ('error' in session) throw new Error(session.error)
    expect(JSON.parse(role.capabilities.legacy)).toHaveProperty('tasks.requests.elicitation.create')
    expect(JSON.parse(role.capabilities.modern)).not.toHaveProperty('tasks')
    const events: SessionEvent[] = []
    session.follow((event) => events.push(event))
    let id = 0
    const ask = (method: string, params: unknown): Told | undefined => {
      const text = JSON.stringify({ jsonrpc: '2.0', id: (id += 1), method, params })
      role.question(text, readEnvelope(text, 0))
      return told.find((one) => one.id === id)
    }
    const elicit = (): string =>
      ask('elicitation/create', { task: { ttl: 60_000 }, message: 'which?' })!.result!.task!.taskId
    const first = elicit()
    expect(ask('tasks/get', { taskId: first })?.result).toMatchObject({ status: 'working', ttl: 60_000 })
    expect(ask('tasks/result', { taskId: first })).toBeUndefined()
    const waiting = id
    const [question] = events.filter(({ type }) => type === 'question')
    expect(events.filter(({ type }) => type === 'question')).toHaveLength(1)
    const answer = { result: '{"action":"decline","_meta":{"mine":1}}' }
    session.answer((question as { question: string }).question, answer)
    const related = { 'io.modelcontextprotocol/related-task': { taskId: first }, mine: 1 }
    const result = { _meta: related, action: 'decline' }
    expect(told.at(-1)).toEqual({ jsonrpc: '2.0', id: waiting, result })
    expect(ask('tasks/result', { taskId: first })?.result).toEqual(result)
    expect(ask('tasks/cancel', { taskId: first })?.error?.code).toBe(-32602)

    const second = elicit()
    expect(ask('tasks/cancel', { taskId: second })?.result?.status).toBe('cancelled')
    expect(events.at(-1)).toMatchObject({ type: 'settled' })
    expect(ask('tasks/result', { taskId: second })?.error?.message).toBe('the task was cancelled')
    expect(ask('tasks/get', { taskId: 'other' })?.error?.code).toBe(-32602)
    const tasks = ask('tasks/list', {})?.result?.tasks
    expect(tasks?.map(({ status }) => status)).toEqual(['completed', 'cancelled'])
    await session.close()
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
