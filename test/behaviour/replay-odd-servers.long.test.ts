import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tapeOf } from '../compare/stage.js'
import { createReplayStage, opening, type ReplayStage } from './replay-stage.js'
import { plainEnv } from './run-cli.js'
import { cli, createStage, printed, server } from './stage.js'

const call = (id: number, name: string) => ({ id, method: 'tools/call', params: { name, arguments: {} } })

/** A server that responds to `initialize`, and handles calls with this code: `id`, `params` and `say` are defined. */
function odd(does: string): string[] {
  const program = `require('readline').createInterface(process.stdin).on('line', (line) => {
    const { id, method, params } = JSON.parse(line)
    const say = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }))
    const info = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } }
    if (method === 'initialize') return say({ id, result: info })
    if (method === 'tools/call') { ${does} }
  })`
  return [process.execPath, '-e', program]
}

describe('a replay against a server', () => {
  let stage: ReplayStage
  beforeAll(async () => {
    stage = createReplayStage()
    const messages = [...opening, call(1, 'open'), call(2, 'open'), call(3, 'open')]
    await stage.record('base.jsonl', { messages }, server('release.mjs'))
  })
  afterAll(() => stage.close())

  it('that closes its stdout and lives on ends at once', async () => {
    const lives = odd('process.stdout.end(); setInterval(() => {}, 1000)')
    const { stdout, code } = await stage.run('replay', 'base.jsonl', '--timeout', '60', '--', ...lives)
    expect(stdout).toMatch(/^Stopped: the server closed its stdout$/m)
    expect(stdout).toMatch(/ 2 not sent$/m)
    expect(code).toBe(1)
  })

  it('that does not repeat its request after the last call finds no difference', async () => {
    const said = { method: 'tools/call', params: { name: 'x' }, result: { content: [] } }
    writeFileSync(stage.path('left.jsonl'), tapeOf([said, { method: 'roots/list', server: true }]))
    const silent = odd('say({ id, result: { content: [] } })')
    const { stdout, code } = await stage.run('replay', 'left.jsonl', '--', ...silent)
    expect(stdout).toMatch(/^Same: 1 exchange$/m)
    expect(code).toBe(0)
    writeFileSync(stage.path('stayed.jsonl'), tapeOf([said, { method: 'roots/list', server: true }, said]))
    const stayed = await stage.run('replay', 'stayed.jsonl', '--', ...silent)
    expect(stayed.stdout).toMatch(/^Different: 2 same, 1 missing$/m)
  })

  it('that responds without an id is reported with its text', async () => {
    const nameless = odd(`say({ id: null, error: { code: -32700, message: 'Parse error' } })`)
    const said = { method: 'tools/call', params: { name: 'x' }, result: { content: [] } }
    writeFileSync(stage.path('one.jsonl'), tapeOf([said]))
    const { stdout } = await stage.run('replay', 'one.jsonl', '--timeout', '6', '--', ...nameless)
    expect(stdout).toMatch(/^Note: 1 response has no id: error -32700: Parse error$/m)
  })

  it('that has ended before a request is reported: the request was not sent', async () => {
    // It stops listening before it hangs up, so that no request arrives in between.
    const dying = `const http = require('node:http')
      const server = http.createServer((request, response) => {
        let body = ''
        request.on('data', (chunk) => (body += chunk)).on('end', () => {
          const { id, method } = JSON.parse(body || '{}')
          if (method === 'tools/call') return server.close(), request.socket.destroy()
          const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 's', version: '1' } }
          response.writeHead(id === undefined ? 202 : 200, { 'content-type': 'application/json', connection: 'close' })
          response.end(id === undefined ? '' : JSON.stringify({ jsonrpc: '2.0', id, result }))
        })
      }).listen(0, '127.0.0.1', () => console.log('http://127.0.0.1:' + server.address().port + '/mcp'))
      setInterval(() => {}, 1000)`
    const theatre = createStage()
    try {
      const actor = theatre.start([process.execPath, '-e', dying])
      await printed(actor, '/mcp')
      const url = actor.stdout().toString().trim()
      const { stdout } = await stage.run('replay', 'base.jsonl', '--url', url)
      expect(stdout).toMatch(/^Stopped: the server is unreachable: the connection was refused$/m)
      expect(stdout).toMatch(/ 1 error now, 2 not sent$/m)
    } finally {
      await theatre.close()
    }
  })

  it.each([
    ['SIGHUP', 129],
    ['SIGINT', 130],
  ] as const)('that is ended by %s keeps its results, and accepts none', async (signal, exitCode) => {
    const theatre = createStage()
    try {
      const before = readFileSync(stage.path('base.jsonl'), 'utf8')
      const results = stage.path(`${signal}.json`)
      const args = ['replay', stage.path('base.jsonl'), '--update', '--output', results, '--timeout', '60']
      const half = odd(`if (id === 1) say({ id, result: { content: [] } })`)
      const actor = theatre.start([process.execPath, cli, ...args, '--', ...half], {
        env: plainEnv(),
        detached: true,
      })
      await printed(actor, '#3')
      process.kill(actor.pid, signal)
      expect(await actor.ended).toEqual({ exitCode, signal: null })
      expect(JSON.parse(readFileSync(results, 'utf8'))).toHaveProperty('results.2.verdict', 'changed')
      expect(actor.stdout().toString()).toMatch(/^No response was accepted, because the replay was stopped$/m)
      expect(readFileSync(stage.path('base.jsonl'), 'utf8')).toBe(before)
    } finally {
      await theatre.close()
    }
  })
})
