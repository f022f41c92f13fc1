/** Listeners serve the user who started them and root; every other user of the machine is refused. */
import { once } from 'node:events'
import http from 'node:http'
import {
  chownSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Actor, cli, printed, server, until, viewerAddress, useStage } from '../behaviour/stage.js'
import { hasStranger, initialize, requestText, say, strangerUid } from './users.js'

const refusal = `it comes from another user (uid ${strangerUid})`
const ownUid = process.geteuid?.() ?? -1

describe.skipIf(!hasStranger)('another user of this machine', () => {
  const stage = useStage()

  /** The URL that is printed first. */
  async function listening(...args: string[]): Promise<{ actor: Actor; url: URL; port: number }> {
    const actor = stage.start([process.execPath, cli, ...args])
    await printed(actor, '\n')
    const url = new URL(actor.stdout().toString().split('\n')[0]!)
    return { actor, url, port: Number(url.port) }
  }

  async function close(actor: Actor): Promise<void> {
    actor.child.kill('SIGTERM')
    expect(await actor.ended).toMatchObject({ exitCode: 0 })
  }

  const tapes = (): string =>
    stage
      .tapes()
      .map((path) => readFileSync(path, 'utf8'))
      .join('')

  it.each([
    ['record --listen', ['record', '--listen', '127.0.0.1:0']],
    ['record --listen with one server for all', ['record', '--listen', '127.0.0.1:0', '--shared']],
  ])('gets nothing from %s, and starts no server', async (_, args) => {
    const { actor, url, port } = await listening(...args, '--out', stage.out, '--', ...server('mini-mcp.mjs'))
    expect(url.pathname).toBe('/mcp')
    const refused = await say(port, requestText(port, '/mcp', initialize), strangerUid)
    expect(refused).toMatch(/^HTTP\/1\.1 403 /)
    expect(refused).toContain(refusal)
    expect(refused).toContain('--open-to-all-users')
    expect(refused).not.toContain('serverInfo')
    expect(stage.runningAs('mini-mcp.mjs')).toEqual([])
    expect(await say(port, requestText(port, '/mcp', initialize), ownUid)).toContain('serverInfo')
    expect(actor.stderr().toString()).toContain(`a connection was refused: ${refusal}`)
    await close(actor)
    // The other user's program sent no recorded message.
    expect(tapes().match(/"initialize"/g)).toHaveLength(1)
    expect(tapes()).not.toContain('"status":403')
  })

  it('gets nothing from the loopback port behind record --listen', async () => {
    const { actor, port } = await listening(
      'record',
      '--listen',
      '127.0.0.1:0',
      '--out',
      stage.out,
      '--',
      ...server('mini-mcp.mjs'),
    )
    const inner = listenersOf(actor.pid).filter((one) => one !== port)
    expect(inner).toHaveLength(1)
    expect(await say(inner[0]!, requestText(inner[0]!, '/mcp', initialize), strangerUid)).toContain(refusal)
    await close(actor)
  })

  it('gets nothing from the loopback port of record --bridge, which adds a header of ours', async () => {
    const upstream = http.createServer((request, response) => response.end(String(request.headers['x-key'])))
    upstream.listen(0, '127.0.0.1')
    await once(upstream, 'listening')
    const { port: theirs } = upstream.address() as AddressInfo
    const actor = stage.start([
      process.execPath,
      cli,
      'record',
      '--url',
      `http://127.0.0.1:${theirs}/mcp?key=abc`,
      '--bridge',
      '--out',
      stage.out,
    ])
    const [inner] = await until('it listens', () => {
      const ports = listenersOf(actor.pid)
      return ports.length > 0 && ports
    })
    expect(await say(inner!, requestText(inner!, '/mcp'), strangerUid)).toContain(refusal)
    actor.stdin.end()
    await actor.ended
    upstream.close()
  })

  it('uses record --url, as it could use the upstream, unless its URL has a key', async () => {
    const upstream = http.createServer((request, response) => response.end(`asked for ${request.url}`))
    upstream.listen(0, '127.0.0.1')
    await once(upstream, 'listening')
    const { port: theirs } = upstream.address() as AddressInfo
    const plain = await listening('record', '--url', `http://127.0.0.1:${theirs}/mcp`, '--out', stage.out)
    expect(await say(plain.port, requestText(plain.port, '/mcp'), strangerUid)).toContain('asked for /mcp')
    await close(plain.actor)
    const keyed = await listening(
      'record',
      '--url',
      `http://127.0.0.1:${theirs}/mcp?key=abc`,
      '--out',
      stage.out,
    )
    expect(await say(keyed.port, requestText(keyed.port, '/mcp'), strangerUid)).toContain(refusal)
    expect(await say(keyed.port, requestText(keyed.port, '/mcp'), ownUid)).toContain('asked for /mcp?key=abc')
    await close(keyed.actor)
    upstream.close()
  })

  it('goes nowhere through record --forward', async () => {
    const actor = stage.start(stage.recordWith('--forward', '--listen', '127.0.0.1:0'))
    await printed(actor, 'SSL_CERT_FILE')
    const proxy = new URL(/HTTP_PROXY=(\S+)/.exec(actor.stdout().toString())![1]!)
    expect(proxy.username).toBe('')
    const port = Number(proxy.port)
    for (const text of [
      'CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n',
      'GET http://127.0.0.1:1/ HTTP/1.1\r\nHost: 127.0.0.1:1\r\nConnection: close\r\n\r\n',
      'GET http://127.0.0.1:1/ HTTP/1.1\r\nHost: 127.0.0.1:1\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n',
    ]) {
      const refused = await say(port, text, strangerUid)
      expect(refused).toMatch(/^HTTP\/1\.1 403 /)
      expect(refused).toContain(refusal)
      expect(await say(port, text, ownUid)).not.toContain(refusal)
    }
    await close(actor)
  })

  it('gets nothing from mock --listen', async () => {
    writeFileSync(stage.path('t.jsonl'), tape)
    const { actor, port } = await listening('mock', stage.path('t.jsonl'), '--listen', '127.0.0.1:0')
    expect(await say(port, requestText(port, '/mcp', initialize), strangerUid)).toContain(refusal)
    expect(await say(port, requestText(port, '/mcp', initialize), ownUid)).not.toContain(refusal)
    await close(actor)
  })

  it('gets not even the page of ui', async () => {
    const actor = stage.start([process.execPath, cli, 'ui', '--no-open'])
    const port = Number(new URL(await viewerAddress(actor)).port)
    expect(await say(port, requestText(port, '/'), strangerUid)).toContain(refusal)
    expect(await say(port, requestText(port, '/'), ownUid)).toContain('<title>wiretape</title>')
    await close(actor)
  })

  it('is let in by --open-to-all-users', async () => {
    const { actor, port } = await listening(
      'record',
      '--listen',
      '127.0.0.1:0',
      '--open-to-all-users',
      '--out',
      stage.out,
      '--',
      ...server('mini-mcp.mjs'),
    )
    expect(await say(port, requestText(port, '/mcp', initialize), strangerUid)).toContain('serverInfo')
    await close(actor)
  })

  it('is served by a recorder of its own, and so is root, but no third user', async () => {
    const home = mkdtempSync(join(tmpdir(), 'wiretape-theirs-'))
    chownSync(home, strangerUid, strangerUid)
    const actor = stage.start(
      [process.execPath, cli, 'record', '--listen', '127.0.0.1:0', '--', ...server('mini-mcp.mjs')],
      {
        uid: strangerUid,
        gid: strangerUid,
        cwd: '/',
        env: { ...stage.env, HOME: home, XDG_DATA_HOME: home },
      },
    )
    await printed(actor, '\n')
    const port = Number(new URL(actor.stdout().toString().split('\n')[0]!).port)
    for (const uid of [strangerUid, 0])
      expect(await say(port, requestText(port, '/mcp', initialize), uid)).toContain('serverInfo')
    expect(await say(port, requestText(port, '/mcp', initialize), 65_533)).toContain(
      'another user (uid 65533)',
    )
    await close(actor)
    rmSync(home, { recursive: true })
  })
})

const tape = [
  '{"v":1,"type":"meta","startedAt":"2026-01-01T00:00:00.000Z","label":"t","command":["x"],"mcpTapVersion":"0"}',
  '{"t":"2026-01-01T00:00:00.001Z","dir":"in","raw":{"jsonrpc":"2.0","id":1,"method":"ping"}}',
  '{"t":"2026-01-01T00:00:00.002Z","dir":"out","raw":{"jsonrpc":"2.0","id":1,"result":{}}}',
  '{"t":"2026-01-01T00:00:00.003Z","type":"end","exitCode":0,"durationMs":3}',
  '',
].join('\n')

/** Ports on which a process listens (Linux). */
function listenersOf(pid: number): number[] {
  const inodes = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap(
      (fd) => /^socket:\[(\d+)\]$/.exec(linkOf(`/proc/${pid}/fd/${fd}`))?.[1] ?? [],
    ),
  )
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/ +/))
    .filter((columns) => columns[3] === '0A' && inodes.has(columns[9]!))
    .map((columns) => Number.parseInt(columns[1]!.split(':')[1]!, 16))
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}
