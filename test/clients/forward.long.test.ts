import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, request, type RequestListener } from 'node:http'
import https from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import tls from 'node:tls'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLeafCertificates, makeAuthority } from '../../src/capture/trust/certificates.js'
import { attach } from '../behaviour/attach.js'
import { cli, printed, type Actor, useStage } from '../behaviour/stage.js'
import { linesOfTape, linesOfType, type Line } from '../behaviour/tape-bytes.js'

const theirs = await makeAuthority(new Date())
const leaf = await createLeafCertificates(theirs).of('localhost')

const stage = useStage()
let env: NodeJS.ProcessEnv
const closers: (() => unknown)[] = []
beforeEach(() => {
  const roots = stage.path('theirs.pem')
  writeFileSync(roots, theirs.certificate)
  env = { ...stage.env, NODE_EXTRA_CA_CERTS: roots }
  for (const name of ['SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE']) delete env[name]
})
afterEach(async () => {
  for (const close of closers.splice(0)) close()
})

/** MCP at /mcp, with OAuth metadata and tokens beside it; /other is unrelated. */
const answers: RequestListener = (request, response) => {
  let body = ''
  request.on('data', (chunk) => (body += String(chunk)))
  request.on('end', () => {
    const own = `https://${request.headers.host}`
    const json = (value: unknown, status = 200): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    }
    if (request.url === '/.well-known/oauth-protected-resource')
      return json({ resource: `${own}/mcp`, authorization_servers: [own] })
    if (request.url === '/.well-known/oauth-authorization-server')
      return json({ issuer: own, token_endpoint: `${own}/tokens` })
    if (request.url === '/tokens') return json({ access_token: 'secret-token', token_type: 'Bearer' })
    if (request.url !== '/mcp') return response.end('other')
    if (request.method !== 'POST') return response.writeHead(405).end()
    const { id, method } = JSON.parse(body)
    if (id === undefined) return response.writeHead(202).end()
    const result =
      method === 'initialize'
        ? {
            protocolVersion: '2025-06-18',
            capabilities: { tools: {} },
            serverInfo: { name: 's', version: '1' },
          }
        : { tools: [{ name: 'a', inputSchema: { type: 'object' } }] }
    return json({ jsonrpc: '2.0', id, result })
  })
}

async function serve(): Promise<string> {
  const server = https.createServer({ key: leaf.key, cert: leaf.certificate }, answers).listen(0, '127.0.0.1')
  await once(server, 'listening')
  closers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `https://localhost:${(server.address() as AddressInfo).port}`
}

function forward(
  client: readonly string[],
  options: readonly string[] = [],
  more: NodeJS.ProcessEnv = {},
): Actor {
  const argv = [process.execPath, cli, 'record', '--forward', '--out', stage.out, ...options]
  return stage.start([...argv, ...(client.length > 0 ? ['--', ...client] : [])], { env: { ...env, ...more } })
}

const initialize =
  '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}'
const has = (program: string, ...args: string[]): boolean => spawnSync(program, args).status === 0
const node = process.versions.node.split('.').map(Number)
const knowsProxies = node[0]! > 24 || (node[0] === 24 && node[1]! >= 5) || (node[0] === 22 && node[1]! >= 21)

/** Programs that request a token, use MCP, and fetch an unrelated page. */
const clients: [name: string, present: boolean, argv: (origin: string) => string[]][] = [
  [
    'curl',
    has('curl', '--version'),
    (origin) => [
      'curl',
      '-sS',
      '--fail',
      '-d',
      'grant_type=client_credentials',
      `${origin}/tokens`,
      '--next',
      '-sS',
      '--fail',
      `${origin}/other`,
      '--next',
      '-sS',
      '--fail',
      '-H',
      'content-type: application/json',
      '-H',
      'authorization: Bearer secret-token',
      '-d',
      initialize,
      `${origin}/mcp`,
    ],
  ],
  [
    'Python',
    has('python3', '-c', 'import ssl, urllib.request'),
    (origin) => [
      'python3',
      '-c',
      `
import sys, urllib.request
def ask(path, data=None, headers={}):
    request = urllib.request.Request(${JSON.stringify(origin)} + path, data, headers)
    sys.stdout.write(urllib.request.urlopen(request).read().decode())
ask('/tokens', b'grant_type=client_credentials')
ask('/other')
ask('/mcp', ${JSON.stringify(initialize)}.encode(), {'content-type': 'application/json', 'authorization': 'Bearer secret-token'})`,
    ],
  ],
  [
    'Node',
    knowsProxies,
    (origin) => [
      process.execPath,
      '--input-type=module',
      '-e',
      `
const ask = async (path, init) => process.stdout.write(await (await fetch(${JSON.stringify(origin)} + path, init)).text())
await ask('/tokens', { method: 'POST', body: new URLSearchParams({ grant_type: 'client_credentials' }) })
await ask('/other')
await ask('/mcp', { method: 'POST', body: ${JSON.stringify(initialize)}, headers: { 'content-type': 'application/json', authorization: 'Bearer secret-token' } })`,
    ],
  ],
]

describe('a client behind the forward proxy', () => {
  for (const [name, present, argv] of clients) {
    it.skipIf(!present)(`is recorded, MCP and OAuth and nothing else: ${name}`, async () => {
      const origin = await serve()
      const actor = forward(argv(origin))
      expect(await actor.ended).toEqual({ exitCode: 0, signal: null })
      const said = actor.stdout().toString()
      for (const part of ['"secret-token"', 'other', '"serverInfo"']) expect(said).toContain(part)
      const tape = stage.tape()
      expect(linesOfTape(tape)[0]).toMatchObject({
        label: 'localhost',
        command: [],
        wiretape: { transport: 'streamable-http', url: `${origin}/mcp` },
      })
      const messages = linesOfType(tape, undefined)
      expect(messages).toMatchObject([
        { dir: 'in', raw: { method: 'initialize' }, http: { path: '/mcp', exchange: 1 } },
        { dir: 'out', raw: { id: 1 }, http: { status: 200, exchange: 1 } },
      ])
      // The token request came before the server was known as an MCP server.
      const token = linesOfType(tape, 'http').find(({ path }: Line) => path === '/tokens')!
      expect(token).toMatchObject({
        exchange: 0,
        method: 'POST',
        status: 200,
        requestBody: 'grant_type=client_credentials',
      })
      const text = JSON.stringify(linesOfTape(tape))
      expect(text).not.toContain('secret-token')
      expect(text).not.toContain('/other')
      for (const { us } of linesOfTape(tape)) if (us !== undefined) expect(us).toBeGreaterThanOrEqual(0)
    })
  }

  it('has its own exit status, and gets signals, and a message for a missing program', async () => {
    expect(await forward(['sh', '-c', 'exit 7']).ended).toMatchObject({ exitCode: 7 })
    const waits = forward(['sh', '-c', 'trap "exit 9" TERM; echo up; while :; do sleep 0.05; done'])
    await printed(waits, 'up')
    waits.child.kill('SIGTERM')
    expect(await waits.ended).toMatchObject({ exitCode: 9 })
    const missing = forward(['/no/such/program'])
    expect(await missing.ended).toMatchObject({ exitCode: 127 })
    expect(missing.stderr().toString()).toMatch(
      /^wiretape: cannot start .*no such program \(nothing was recorded\)\n$/,
    )
  })

  it('is recorded behind an existing proxy', async () => {
    const origin = (await serve()).replace('https:', 'http:')
    const asked: string[] = []
    const company = createServer((request, response) => {
      asked.push(`${request.method} ${request.url} ${request.headers['proxy-authorization']}`)
      request.url = new URL(request.url!).pathname
      answers(request, response)
    }).listen(0, '127.0.0.1')
    await once(company, 'listening')
    closers.push(() => company.close())
    const { port } = company.address() as AddressInfo
    const asking = `const { request } = require('node:http')
      const headers = { host: new URL('${origin}').host, 'content-type': 'application/json' }
      request(process.env.HTTP_PROXY, { method: 'POST', path: '${origin}/mcp', headers, agent: false }, (answer) => answer.pipe(process.stdout))
        .end(${JSON.stringify(initialize)})`
    const more = { HTTP_PROXY: `http://a:b@127.0.0.1:${port}`, HTTPS_PROXY: 'socks5://me:hush@127.0.0.1' }
    const actor = forward([process.execPath, '-e', asking], [], more)
    expect(await actor.ended).toEqual({ exitCode: 0, signal: null })
    expect(actor.stdout().toString()).toContain('"serverInfo"')
    expect(asked).toEqual([`POST ${origin}/mcp Basic YTpi`])
    // The client's Node may print warnings of its own.
    expect(actor.stderr().toString()).toMatch(
      /^wiretape: HTTPS_PROXY is a socks5:\/\/ proxy, which is not supported: it is ignored, and servers are connected to directly\n/,
    )
    expect(actor.stderr().toString()).not.toContain('hush')
    expect(linesOfTape(stage.tape())[0]).toMatchObject({ wiretape: { url: `${origin}/mcp` } })
    expect(readFileSync(stage.tape(), 'utf8')).not.toMatch(/YTpi|proxy-authorization/i)
  })

  it('is configured by variables, which keep its existing certificates', async () => {
    const printing = `const { readFileSync } = require('node:fs'); const e = process.env; console.log(JSON.stringify({
      proxies: [...new Set([e.HTTP_PROXY, e.HTTPS_PROXY, e.http_proxy, e.https_proxy])], node: e.NODE_USE_ENV_PROXY, no: e.NO_PROXY,
      extra: readFileSync(e.NODE_EXTRA_CA_CERTS, 'utf8'), all: readFileSync(e.SSL_CERT_FILE, 'utf8'), same: e.SSL_CERT_FILE === e.REQUESTS_CA_BUNDLE }))`
    const more = { NO_PROXY: 'a.example, localhost,.corp.example' }
    const actor = forward([process.execPath, '-e', printing], ['--only', 'localhost'], more)
    await actor.ended
    const told = JSON.parse(actor.stdout().toString())
    expect(told).toMatchObject({
      proxies: [expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/)],
      node: '1',
      no: 'a.example,.corp.example',
      same: true,
    })
    expect(told.extra).toContain(theirs.certificate.trim())
    expect(told.all.match(/BEGIN CERTIFICATE/g).length).toBeGreaterThan(20)
  })

  it.skipIf(!clients[0]![1])('may be started elsewhere, with the printed variables', async () => {
    const origin = await serve()
    const recorder = forward([], ['--listen', '127.0.0.1:0'])
    await printed(recorder, 'CURL_CA_BUNDLE')
    const script = `${recorder.stdout().toString()}\ncurl -sS --fail -d '${initialize}' ${origin}/mcp`
    const client = stage.start(['sh', '-c', script], { env })
    expect(await client.ended).toMatchObject({ exitCode: 0 })
    recorder.child.kill('SIGINT')
    expect(await recorder.ended).toEqual({ exitCode: 0, signal: null })
    expect(linesOfType(stage.tape(), undefined)).toHaveLength(2)
    expect(recorder.stderr().toString()).toContain('give clients the variables above')
  })
})

/** A POST through the tunnel of a proxy, by a client that trusts its certificates. */
async function postInside(proxy: URL, trust: string, url: string, body: object): Promise<string> {
  const to = new URL(url)
  const connecting = request({
    host: proxy.hostname,
    port: proxy.port,
    method: 'CONNECT',
    path: to.host,
  }).end()
  const [, tunnel] = (await once(connecting, 'connect')) as [unknown, Socket]
  const secured = tls.connect({ socket: tunnel, servername: to.hostname, ca: readFileSync(trust) })
  const posting = https.request(url, {
    method: 'POST',
    createConnection: () => secured,
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
  })
  posting.end(JSON.stringify({ jsonrpc: '2.0', ...body }))
  const [answer] = (await once(posting, 'response')) as [AsyncIterable<Buffer>]
  let text = ''
  for await (const chunk of answer) text += chunk.toString()
  secured.destroy()
  return text
}

describe('messages inside of TLS', () => {
  it('are held, changed, answered and dropped, by users and by rules', async () => {
    const url = `${await serve()}/mcp`
    const rules =
      "rules: [{ name: rename, when: 'method:initialize', on: answers, set: { '$.result.serverInfo.name': 'ours' } }]"
    writeFileSync(stage.path('rules.yaml'), rules)
    const options = ['--rules', 'rules.yaml', '--break', 'method:tools/list is:request']
    const recorder = forward([], ['--listen', '127.0.0.1:0', ...options])
    await printed(recorder, 'CURL_CA_BUNDLE')
    const named = (name: string): string =>
      new RegExp(`${name}='?([^'\\s]+)`).exec(recorder.stdout().toString())![1]!
    const send = (body: object): Promise<string> =>
      postInside(new URL(named('HTTPS_PROXY')), named('CURL_CA_BUNDLE'), url, body)
    expect(await send(JSON.parse(initialize) as object)).toContain('"name":"ours"')
    const screen = await attach(stage)
    const list = { id: 2, method: 'tools/list' }
    const renamed = send(list)
    const { message, text } = await screen.held()
    await screen.tell({ type: 'edit', message, text: text.replace('"id":2', '"id":99') })
    expect(JSON.parse(await renamed)).toMatchObject({ id: 2, result: { tools: [{ name: 'a' }] } })
    const answered = send({ ...list, id: 3 })
    await screen.tell({ type: 'answer', message: (await screen.held(2))['message'], result: '{"tools":[]}' })
    expect(JSON.parse(await answered)).toMatchObject({ id: 3, result: { tools: [] } })
    const dropped = send({ ...list, id: 4 })
    await screen.tell({ type: 'drop', message: (await screen.held(3))['message'] })
    expect(JSON.parse(await dropped)).toMatchObject({ id: 4, error: { code: -32000 } })
    await screen.tell({ type: 'hold', on: false })
    const { answer } = await screen.tell({
      type: 'inject',
      direction: 'client_to_server',
      text: '{"jsonrpc":"2.0","id":5,"method":"tools/list"}',
    })
    expect(JSON.parse(answer)).toMatchObject({ id: 5, result: { tools: [{ name: 'a' }] } })
    screen.close()
    recorder.child.kill('SIGINT')
    await recorder.ended
    const messages = linesOfType(stage.tape(), undefined)
    expect(messages.filter(({ modified }: Line) => modified)).toHaveLength(3)
    expect(linesOfType(stage.tape(), 'dropped')).toHaveLength(2)
  })
})

describe('when no MCP traffic passed', () => {
  const because = async (
    client: string[],
    options: string[] = [],
    more: NodeJS.ProcessEnv = {},
  ): Promise<string> => {
    const actor = forward(client, options, more)
    await actor.ended
    expect(stage.tapes()).toEqual([])
    return actor.stderr().toString()
  }

  it('the end says so, with the reason', async () => {
    const origin = await serve()
    const place = origin.slice('https://'.length)
    expect(await because(['true'], [], { NO_PROXY: 'localhost' })).toMatch(
      /^wiretape: no MCP traffic passed: no request used the proxy; Node before 22\.21 .*; NO_PROXY exempts localhost; .*\n$/,
    )
    if (!knowsProxies)
      expect(await because([process.execPath, '-e', '0'])).toContain(
        `the client's Node ${process.versions.node} ignores`,
      )
    if (!clients[0]![1]) return
    const get = ['curl', '-sS', '-o', '/dev/null', `${origin}/other`]
    expect(await because(get)).toContain(`the request to ${origin} had no MCP message`)
    const skipped = `all requests went to ${place}, which --only or --skip excludes`
    expect(await because([...get, '--cacert', stage.path('theirs.pem')], ['--skip', 'localhost'])).toContain(
      skipped,
    )
    expect(await because([...get, '--cacert', stage.path('theirs.pem')], ['--only', 'x.example'])).toContain(
      skipped,
    )
    const pinned = [
      'sh',
      '-c',
      `for n in 1 2; do curl -s -o /dev/null --cacert theirs.pem ${origin}/other; done; exit $?`,
    ]
    expect(await because(pinned)).toContain(
      `the client does not trust the certificate of wiretape for ${place}, which was tunnelled`,
    )
  })
})

describe('a client that does not trust our certificate, after one that did', () => {
  it.runIf(clients[0]![1])('ends the recording of that server, whose tape says so', async () => {
    const origin = await serve()
    const post = `curl -sS -o /dev/null -H content-type:application/json -d '${initialize}' ${origin}/mcp`
    const mixed = `${post}; curl -s -o /dev/null --cacert theirs.pem ${origin}/other; ${post}; ${post}`
    const actor = forward(['sh', '-c', mixed])
    await actor.ended
    const lines = readFileSync(stage.tape(), 'utf8').split('\n')
    expect(lines.filter((line) => line.includes('"method":"initialize"'))).toHaveLength(1)
    expect(lines.filter((line) => line.includes('"type":"note"')).join()).toContain(
      'connections to this server are no longer recorded',
    )
  })
})

describe('invalid options', () => {
  it.each([
    [['--url', 'http://x/'], /--forward and --url cannot be combined/],
    [['--session-file', 's.json'], /convert each tape with wiretape convert TAPE FILE.json/],
    [['--allow-remote'], /other machines could connect to any address through the proxy/],
    [['--listen', '0.0.0.0:0'], /other machines could use the server/],
    [['--only', 'a b'], /--only a b is not a host/],
  ])('are refused: %j', async (options, words) => {
    const actor = forward(['true'], options)
    expect(await actor.ended).toMatchObject({ exitCode: 2 })
    expect(actor.stderr().toString()).toMatch(words)
    expect(actor.stderr().toString().trim().split('\n')).toHaveLength(1)
  })

  it('of a folder for certificates or tapes that cannot be created are refused before the client starts', async () => {
    writeFileSync(stage.path('file'), '')
    for (const options of [
      ['--ca-dir', stage.path('file/ca')],
      ['--out', stage.path('file/tapes')],
    ]) {
      const actor = forward(['touch', stage.path('started')], options)
      expect(await actor.ended).toMatchObject({ exitCode: 1 })
      expect(actor.stderr().toString()).toMatch(/^wiretape: cannot .*a file has that name.*\n$/)
    }
  })
})
