import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { plainEnv, wiretape } from '../behaviour/run-cli.js'
import { server } from '../behaviour/stage.js'

const root = resolve(import.meta.dirname, '../..')
let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'wiretape-update-'))
  cpSync(join(root, 'dist'), join(folder, 'dist'), { recursive: true })
  cpSync(join(root, 'package.json'), join(folder, 'package.json'))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const ping = (id: number): string => `{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`

/** Starts a recorder, removes its program after the first response, and sends further messages. */
async function talkOn(...options: string[]): Promise<void> {
  const argv = [join(folder, 'dist/bin/wiretape.js'), 'record', '--out', join(folder, 'tapes'), ...options]
  const env = { ...plainEnv(), HOME: folder }
  const child = spawn(process.execPath, argv, { env, stdio: ['pipe', 'pipe', 'pipe'] })
  let output = ''
  let errors = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  async function answered(id: number): Promise<void> {
    await expect.poll(() => output, { timeout: 30_000 }).toContain(`"id":${id}`)
  }
  child.stdin.write(ping(1))
  await answered(1)
  rmSync(join(folder, 'dist'), { recursive: true })
  for (const id of [2, 3, 4]) {
    child.stdin.write(ping(id))
    await answered(id)
  }
  child.stdin.end()
  const [code] = (await once(child, 'close')) as [number | null]
  expect({ code, errors }).toEqual({ code: 0, errors: '' })
  const [tape] = readdirSync(join(folder, 'tapes'))
  expect(readFileSync(join(folder, 'tapes', tape!), 'utf8').match(/"method":"ping"/g)).toHaveLength(4)
  const check = await wiretape(['inspect', '--check', join(folder, 'tapes', tape!)])
  expect(check).toMatchObject({ code: 0 })
}

describe('a recorder whose program is replaced while it runs', () => {
  it('records on and closes its tape, over stdio', () =>
    talkOn('--keep', '30d,2GB', '--', ...server('mini-mcp.mjs')))

  it('records on and closes its tape, as a bridge', async () => {
    const upstream = http.createServer((req, res) => {
      let body = ''
      req.on('data', (chunk: Buffer) => (body += chunk.toString()))
      req.on('end', () => {
        if (req.method !== 'POST') return void res.writeHead(405).end()
        const { id } = JSON.parse(body) as { id: number }
        res
          .writeHead(200, { 'content-type': 'application/json' })
          .end(`{"jsonrpc":"2.0","id":${id},"result":{}}`)
      })
    })
    await new Promise<void>((done) => upstream.listen(0, '127.0.0.1', done))
    try {
      await talkOn('--bridge', '--url', `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/mcp`)
    } finally {
      upstream.closeAllConnections()
      upstream.close()
    }
  })
})
