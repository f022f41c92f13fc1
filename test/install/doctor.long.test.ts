import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLeafCertificates, makeAuthority } from '../../src/capture/trust/certificates.js'
import { server } from '../behaviour/stage.js'
import { plainEnv, wiretape } from '../behaviour/run-cli.js'

let home = ''
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'wiretape-doctor-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

interface Step {
  readonly name: string
  readonly state: string
  readonly found: string
  readonly advice?: string
}

/** Runs the doctor and returns its findings by step. */
async function examine(
  ...args: string[]
): Promise<{ code: number | null; steps: Map<string, Step>; last: Step }> {
  const run = await wiretape(['doctor', '--json', ...args], { cwd: home, env: { ...plainEnv(), HOME: home } })
  expect(run.stderr).toBe('')
  const { ok, steps } = JSON.parse(run.stdout) as { ok: boolean; steps: Step[] }
  expect(ok).toBe(run.code === 0)
  return { code: run.code, steps: new Map(steps.map((step) => [step.name, step])), last: steps.at(-1)! }
}

function put(path: string, text: string): void {
  mkdirSync(dirname(join(home, path)), { recursive: true })
  writeFileSync(join(home, path), text)
}

const node = (source: string): string[] => ['--', process.execPath, '-e', source]

describe('wiretape doctor of a command', () => {
  it('follows a server that works to the agreed version', async () => {
    const { code, steps } = await examine('--', ...server('mini-mcp.mjs'))
    expect(code).toBe(0)
    expect(steps.get('initialize answered')!.found).toContain('mini-mcp 1.0.0')
    expect(steps.get('version agreed')!.found).toBe('2025-11-25')
  })

  it.each([
    ['a program that is not there', ['--', 'no-such-program-here'], 'command found', 'no such program'],
    [
      'a line that is not JSON',
      node('console.log("Server started")'),
      'first line is JSON',
      'Server started',
    ],
    [
      'a server that ends',
      node('console.error("no key"); process.exit(3)'),
      'initialize answered',
      'exited with 3',
    ],
    [
      'a server that is silent',
      ['--timeout', '500ms', ...node('process.stdin.resume()')],
      'initialize answered',
      'within 0.5 s',
    ],
    [
      'a server that refuses',
      node(
        `process.stdin.once('data', () => console.log('{"jsonrpc":"2.0","id":"wiretape-doctor","error":{"code":-32000,"message":"no licence"}}'))`,
      ),
      'initialize answered',
      'no licence',
    ],
    [
      'a variable that is not set',
      ['--', 'sh', '-c', '${WIRETAPE_NOT_SET}'],
      'environment set',
      'WIRETAPE_NOT_SET',
    ],
  ])('names the step that %s fails, and what to do', async (_, args, name, words) => {
    const { code, last } = await examine(...args)
    expect(code).toBe(1)
    expect(last).toMatchObject({ name, state: 'failed' })
    expect(`${last.found} ${last.advice}`).toContain(words)
    expect(last.advice).not.toBe('')
  })

  it('shows the end of stderr of a server that dies', async () => {
    const { last } = await examine(...node('console.error("SECRET_FILE is missing"); process.exit(1)'))
    expect(last.advice).toContain('SECRET_FILE is missing')
  })

  it('takes the name of a server in the configuration of a client', async () => {
    const [command, ...args] = server('mini-mcp.mjs')
    put('.cursor/mcp.json', JSON.stringify({ mcpServers: { mini: { command, args, env: { A: 'b' } } } }))
    const { code, steps } = await examine('mini')
    expect(code).toBe(0)
    expect(steps.get('environment set')!.found).toBe('A')
  })
})

describe('wiretape doctor of a URL', () => {
  let upstream: http.Server
  let url = ''
  beforeEach(async () => {
    upstream = http.createServer((req, res) => {
      const json = (status: number, value: unknown, headers = {}): void =>
        void res
          .writeHead(status, { 'content-type': 'application/json', ...headers })
          .end(JSON.stringify(value))
      req.resume().on('end', () => {
        if (req.url === '/login') {
          const challenge = `Bearer resource_metadata="${url}/meta"`
          return json(401, {}, { 'www-authenticate': challenge })
        }
        if (req.url === '/meta') return json(200, { authorization_servers: ['https://login.example'] })
        if (req.url === '/html') return void res.writeHead(200, { 'content-type': 'text/html' }).end('<p>hi')
        if (req.url === '/sse' && req.method === 'GET')
          return void res
            .writeHead(200, { 'content-type': 'text/event-stream' })
            .end('event: endpoint\ndata: /m\n\n')
        if (req.url !== '/mcp') return json(404, {})
        const result = {
          protocolVersion: '2025-06-18',
          capabilities: {},
          serverInfo: { name: 'far', version: '2' },
        }
        return json(200, { jsonrpc: '2.0', id: 'wiretape-doctor', result }, { 'mcp-session-id': 'abc' })
      })
    })
    await new Promise<void>((done) => upstream.listen(0, '127.0.0.1', done))
    url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  })
  afterEach(() => new Promise((done) => upstream.close(done)))

  it('follows a server that works to its session and era', async () => {
    const { code, steps } = await examine('--url', `${url}/mcp`)
    expect(code).toBe(0)
    expect(steps.get('version agreed')!.found).toBe('2025-06-18')
    expect(steps.get('session')!.state).toBe('ok')
    expect(steps.get('era')!.found).toContain('initialize')
  })

  it('reports a certificate that is not trusted, and how to trust it', async () => {
    const authority = await makeAuthority(new Date())
    const { key, certificate } = await createLeafCertificates(authority).of('localhost')
    const secure = https.createServer({ key, cert: certificate }, (_req, res) => void res.end('<p>hi'))
    await new Promise<void>((done) => secure.listen(0, '127.0.0.1', done))
    try {
      const place = `https://localhost:${(secure.address() as AddressInfo).port}/mcp`
      const strange = await examine('--url', place)
      expect(strange).toMatchObject({ code: 1, last: { name: 'TLS', state: 'failed' } })
      expect(strange.last.advice).toContain('NODE_EXTRA_CA_CERTS')
      put('ca.pem', authority.certificate)
      const extra = { ...plainEnv(), HOME: home, NODE_EXTRA_CA_CERTS: join(home, 'ca.pem') }
      const trusted = await wiretape(['doctor', '--url', place], { cwd: home, env: extra })
      expect(trusted.stdout).toMatch(/TLS +TLSv1\.3[^]*✗ response is JSON/)
    } finally {
      secure.close()
    }
  })

  it('names the authorization server when a protected server requires a token', async () => {
    const { code, steps } = await examine('--url', `${url}/login`)
    expect(code).toBe(1)
    expect(steps.get('.well-known')!.found).toContain('https://login.example')
    expect(steps.get('authorization')).toMatchObject({ state: 'failed' })
  })

  it.each([
    ['/html', 'response is JSON', 'MCP endpoint'],
    ['/nothing', 'HTTP', 'path'],
  ])('names the step that fails at %s', async (path, name, advice) => {
    const { last } = await examine('--url', url + path)
    expect(last).toMatchObject({ name, state: 'failed' })
    expect(last.advice).toContain(advice)
  })

  it('knows a server of HTTP+SSE', async () => {
    const { code, steps } = await examine('--url', `${url}/sse`)
    expect({ code, era: steps.get('era')?.found }).toEqual({ code: 0, era: 'HTTP+SSE (2024-11-05)' })
  })

  it('distinguishes an unknown host name from a port without a listener', async () => {
    expect((await examine('--url', 'http://no-such-host.invalid/mcp')).last.name).toBe('DNS')
    expect((await examine('--url', 'http://127.0.0.1:1/mcp')).last.name).toBe('TCP')
  })
})

describe('wiretape doctor of the machine', () => {
  it('finds a configuration that no client can read, and a launcher whose program is gone', async () => {
    put('.cursor/mcp.json', '{"mcpServers": ')
    const launcher = join(home, '.local/share/wiretape/bin/wiretape-launcher')
    put('.local/share/wiretape/bin/wiretape-launcher', "#!/bin/sh\nprogram='/gone/wiretape.js'\n")
    put(
      '.kiro/settings/mcp.json',
      JSON.stringify({ mcpServers: { a: { command: launcher, args: ['record', '--', 'x'] } } }),
    )
    const { code, steps } = await examine()
    expect(code).toBe(1)
    expect(steps.get('Cursor')).toMatchObject({ state: 'failed' })
    expect(steps.get('launcher')!.found).toContain('/gone/wiretape.js is gone')
    expect(steps.get('data folder')).toMatchObject({ state: 'failed' })
  })
})
