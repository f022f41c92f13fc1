import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startUiServer, type Catalogue, type UiServer } from '../../src/ui-server/index.js'

let folder: string
let server: UiServer
/** Whether the catalogue lists the file as live. */
let live: boolean
let next: string | undefined

const listed = {
  id: 'one',
  name: 'one.jsonl',
  label: 'one',
  startedAt: '2026-08-01T10:00:00.000Z',
  sizeBytes: 6,
  messages: 1,
  errors: 0,
  durationMs: 5,
  server: null,
  client: null,
  state: 'complete',
  files: ['one.jsonl'],
  path: '/recordings/one.jsonl',
} as const

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'wiretape-ui-'))
  const viewer = join(folder, 'viewer')
  mkdirSync(viewer)
  writeFileSync(
    join(viewer, 'index.html'),
    '<html data-mode="static"><script src="./viewer.js"></script></html>',
  )
  writeFileSync(join(viewer, 'viewer.js'), 'run()')
  writeFileSync(join(viewer, 'viewer.css'), 'a {}')
  writeFileSync(join(viewer, 'patterns.js'), 'more()')
  writeFileSync(join(viewer, 'views.js'), 'views()')
  writeFileSync(join(folder, 'one.jsonl'), 'hello\n')
  live = false
  next = undefined
  const catalogue: Catalogue = {
    given: async () => [],
    recordings: async () => [listed],
    pathOf: async (id, index) => (id === 'one' && index === 0 ? join(folder, 'one.jsonl') : undefined),
    attend: async () => undefined,
    progressOf: async (path) =>
      path.endsWith('one.jsonl') ? { live, ...(next !== undefined && { next }) } : { live: false },
  }
  server = await startUiServer({ catalogue, viewer, port: 0 })
  const code = new URL(server.newAddress()).hash.replace('#once=', '')
  const given = await ask('/api/token', { headers: { authorization: `Once ${code}` } })
  token = (JSON.parse(given.body) as { token: string }).token
})
afterEach(async () => {
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

let token: string

/** Asks with the token unless told otherwise; `onData` sees the body while it comes. */
function ask(
  path: string,
  options: { headers?: Record<string, string>; method?: string; onData?: (text: string) => void } = {},
): Promise<Answer> {
  const { headers = { authorization: `Bearer ${token}` }, method = 'GET', onData } = options
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port: server.port, path, method, headers }, (response) => {
      let body = ''
      response.setEncoding('utf8')
      response.on('data', (text: string) => {
        body += text
        onData?.(body)
      })
      response.once('end', () => resolve({ status: response.statusCode!, headers: response.headers, body }))
      response.once('error', reject)
    })
    asked.once('error', reject)
    asked.end()
  })
}

describe('who may ask', () => {
  const bearer = (): Record<string, string> => ({ authorization: `Bearer ${token}` })

  it('tells nothing of recordings without the token', async () => {
    for (const path of ['/api/recordings', '/api/given', '/api/recordings/one/0', '/api/nothing']) {
      const { status, body } = await ask(path, { headers: {} })
      expect([path, status]).toEqual([path, 403])
      expect(body).not.toContain('hello')
    }
    expect((await ask('/api/recordings', { headers: { authorization: 'Bearer wrong' } })).status).toBe(403)
  })

  it('takes the token from a header only, and gives it to no cookie and no address', async () => {
    const page = await ask('/', { headers: {} })
    expect(page.status).toBe(200)
    expect(JSON.stringify(page)).not.toContain(token)
    expect(page.headers['set-cookie']).toBeUndefined()
    const cookie = `wiretape-${server.port}=${token}`
    for (const headers of [{ cookie }, { referer: `http://127.0.0.1/?token=${token}` }])
      expect((await ask(`/api/recordings?token=${token}`, { headers })).status).toBe(403)
    expect(JSON.parse((await ask('/api/recordings')).body)).toEqual([listed])
  })

  it('gives the token for a code, once', async () => {
    let used = 0
    const address = new URL(server.newAddress(() => (used += 1)))
    expect(address.origin + address.pathname).toBe(server.url)
    expect(address.search).toBe('')
    const headers = { authorization: `Once ${address.hash.replace('#once=', '')}` }
    expect((await ask('/api/token', { headers, method: 'HEAD' })).status).toBe(403)
    expect(JSON.parse((await ask('/api/token', { headers })).body)).toEqual({ token })
    expect(used).toBe(1)
    expect(await ask('/api/token', { headers })).toMatchObject({
      status: 403,
      body: expect.stringContaining('already used') as string,
    })
    for (const authorization of ['', 'Once ', 'Once x', `Bearer ${token}`, 'Once'])
      expect((await ask('/api/token', { headers: { authorization } })).status).toBe(403)
    expect(used).toBe(1)
  })

  it.each([
    ['another Host, as a rebound name has it', { host: 'evil.example' }],
    ['another port in Host', { host: '127.0.0.1:1' }],
    ['a page of another site', { origin: 'https://evil.example' }],
    ['a page from a file', { origin: 'null' }],
    ['a page of another port', { origin: 'http://127.0.0.1:1' }],
    ['a request that a page of another site made', { 'sec-fetch-site': 'cross-site' }],
    ['a request of the same site, another port', { 'sec-fetch-site': 'same-site' }],
  ])('refuses %s, with the token too', async (_, headers) => {
    expect((await ask('/api/recordings', { headers: { ...bearer(), ...headers } })).status).toBe(403)
  })

  it('answers only GET and HEAD', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      expect((await ask('/api/recordings', { method })).status).toBe(405)
    }
    expect(await ask('/', { method: 'HEAD' })).toMatchObject({ status: 200, body: '' })
  })

  it('sends headers that keep other pages and strange content out, with every answer', async () => {
    for (const path of ['/', '/api/recordings', '/nothing']) {
      const { headers } = await ask(path)
      expect(headers['content-security-policy']).toContain("default-src 'none'")
      expect(headers['content-security-policy']).not.toContain('unsafe')
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
        'cache-control': 'no-store',
      })
      expect(headers['access-control-allow-origin']).toBeUndefined()
    }
  })
})

describe('what is served', () => {
  it('is the page, which is told how it came here', async () => {
    expect((await ask('/')).body).toContain('data-mode="ui"')
    expect(await ask('/viewer.js')).toMatchObject({ status: 200, body: 'run()' })
  })

  it('is a listed file, and no other', async () => {
    expect(await ask('/api/recordings/one/0')).toMatchObject({ status: 200, body: 'hello\n' })
    for (const path of [
      '/api/recordings/one/1',
      '/api/recordings/two/0',
      '/api/recordings/one/..%2f0',
      '/../one.jsonl',
      '/one.jsonl',
      '/index.html',
    ]) {
      expect([path, (await ask(path)).status]).toEqual([path, 404])
    }
  })

  it('goes on while the recording does, into the next segment', async () => {
    live = true
    writeFileSync(join(folder, 'one.1.jsonl'), 'third\n')
    const { body } = await ask('/api/recordings/one/0', {
      onData(text) {
        if (text === 'hello\n') appendFileSync(join(folder, 'one.jsonl'), 'second\n')
        if (text.endsWith('second\n')) {
          next = join(folder, 'one.1.jsonl')
          live = false
        }
      },
    })
    expect(body).toBe('hello\nsecond\nthird\n')
  })

  it('lets go of a file when the browser goes away', async () => {
    live = true
    const gone = new Promise<void>((resolve) => {
      const asked = request(
        {
          host: '127.0.0.1',
          port: server.port,
          path: '/api/recordings/one/0',
          headers: { authorization: `Bearer ${token}` },
        },
        (response) => {
          response.once('data', () => asked.destroy())
          response.once('error', () => undefined)
          response.once('close', resolve)
        },
      )
      asked.once('error', () => undefined)
      asked.end()
    })
    await gone
    await server.close()
    await server.close()
  })
})
