import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { summarizeTape } from '../../src/tape/index.js'
import { identity } from '../fixtures/identity.mjs'

const t = '2026-08-01T10:00:00.000Z'

function meta(url: string | null): object {
  const session = '00000000-0000-4000-8000-000000000000'
  const transport = url === null ? 'stdio' : 'streamable-http'
  const about = { ...identity, session, transport, url }
  return { v: 1, type: 'meta', startedAt: t, label: 'kettle', command: ['kettle'], wiretape: about }
}

function message(dir: 'in' | 'out', raw: object): object {
  return { t, dir, raw, id: '00000000-0000-4000-8000-000000000001', seq: 0, us: 1 }
}

const request = message('in', { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} })
const notification = message('out', { jsonrpc: '2.0', method: 'notifications/message', params: {} })
const stderr = { type: 'stderr', t, us: 1, text: 'the kettle is cold: "dir"' }

function end(exitCode: number, messages: number, more: object = {}): object {
  return { t, type: 'end', exitCode, durationMs: 9, wiretape: { messages, ...more } }
}

function http(more: object): object {
  return { type: 'http', t, us: 1, exchange: 0, conv: 'connection-0', method: 'POST', path: '/mcp', ...more }
}

describe('why a server never sent a message', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'wiretape-silent-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  async function why(url: string | null, ...lines: readonly object[]): Promise<string | undefined> {
    const path = join(folder, 'tape.jsonl')
    writeFileSync(path, [meta(url), ...lines].map((line) => `${JSON.stringify(line)}\n`).join(''))
    return (await summarizeTape(path))!.whySilent
  }

  it('is that it did not start, exited, or gave no message over HTTP', async () => {
    expect(await why(null, end(127, 0, { error: 'cannot start "kettle": no such program' }))).toBe(
      'the server did not start: no such program',
    )
    const exited = 'the server exited with 3 before its first message'
    expect(await why(null, stderr, end(3, 0))).toBe(exited)
    expect(await why(null, stderr, request, stderr, end(3, 1))).toBe(exited)
    const url = 'http://127.0.0.1:1/mcp'
    expect(await why(url, request, http({ status: 401 }), end(0, 1))).toBe(
      'the server responded with HTTP 401',
    )
    const refused = http({ why: 'upstream: the connection was refused, answered 502 by wiretape' })
    expect(await why(url, request, refused, end(0, 1))).toBe(
      'the server did not respond: the connection was refused',
    )
  })

  it('is unknown where the server sent one, was ended, or has not ended', async () => {
    expect(await why(null, notification, end(3, 1))).toBeUndefined()
    expect(await why(null, request, notification, end(3, 2))).toBeUndefined()
    expect(await why(null, end(0, 0))).toBeUndefined()
    expect(await why(null, request, end(143, 1, { signal: 'SIGTERM' }))).toBeUndefined()
    expect(await why(null, request)).toBeUndefined()
    expect(await why('http://127.0.0.1:1/mcp', request, end(0, 1))).toBeUndefined()
  })
})
