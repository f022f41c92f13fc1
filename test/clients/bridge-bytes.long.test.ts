/** Bridges carry text only: bytes that are not UTF-8 are replaced, with a notice. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { cli, printed, until, useStage } from '../behaviour/stage.js'

const stage = useStage()

/** A message with an invalid UTF-8 byte in its one member, and the text that it becomes. */
const damaged = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":"\u00ff"}}', 'latin1')
const whole = '{"jsonrpc":"2.0","id":2,"method":"echo","params":{"a":"\ufffd"}}'
const read = damaged.toString('utf8')
const answer = (id: string): Buffer =>
  Buffer.from(`{"jsonrpc":"2.0","id":${id},"result":{"b":"\u00ff"}}`, 'latin1')

const told = /a message had bytes that are not UTF-8: U\+FFFD replaces them/g

describe('bytes that are not UTF-8', () => {
  it.each([
    ['the client', damaged, (id: string) => Buffer.from(answer(id).toString('utf8')), 1],
    ['the server', Buffer.from(read), answer, 1],
    ['nobody, but U+FFFD', Buffer.from(read), (id: string) => Buffer.from(answer(id).toString('utf8')), 0],
  ])(
    'that come from %s reach a server over HTTP as U+FFFD, with one notice',
    async (_, line, answered, times) => {
      const bodies: string[] = []
      const upstream = createServer((request, response) => {
        const chunks: Buffer[] = []
        request.on('data', (chunk: Buffer) => chunks.push(chunk))
        request.on('end', () => {
          const body = Buffer.concat(chunks).toString('utf8')
          if (request.method === 'POST') bodies.push(body)
          const { id } = JSON.parse(body || '{}') as { id?: number }
          response.writeHead(200, { 'Content-Type': 'application/json' }).end(answered(String(id)))
        })
      }).listen(0, '127.0.0.1')
      await until('it listens', () => upstream.listening)
      try {
        const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/mcp`
        const recorder = stage.start(stage.recordWith('--bridge', '--url', url))
        recorder.child.stdin!.write(Buffer.concat([line, Buffer.from(`\n${whole}\n`)]))
        await until('both are answered', () => recorder.stdout().toString().split('\n').length === 3)
        recorder.child.stdin!.end()
        expect(await recorder.ended).toEqual({ exitCode: 0, signal: null })
        expect(bodies).toEqual([read, whole])
        expect(recorder.stdout().toString('utf8')).toContain(
          '{"jsonrpc":"2.0","id":2,"result":{"b":"\ufffd"}}\n',
        )
        expect([...recorder.stderr().toString().matchAll(told)].length).toBe(times)
        expect(readFileSync(stage.tape(), 'utf8')).toContain('{"a":"\ufffd"}')
      } finally {
        upstream.closeAllConnections()
        upstream.close()
      }
    },
  )

  it.each([
    ['a client', damaged, "'utf8'"],
    ['the server', Buffer.from(read), "'latin1'"],
  ])('from %s reach a server on stdio as U+FFFD, with one notice', async (_, body, encoding) => {
    const script = `process.stdin.on('data', (data) => String(data).trim().split('\\n').forEach((line) => {
      const { id, params } = JSON.parse(line)
      process.stdout.write(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, result: { got: params.a, b: '\\u00ff' } }) + '\\n', ${encoding}))
    }))`
    const argv = [process.execPath, cli, 'record', '--listen', '127.0.0.1:0', '--out', stage.out]
    const recorder = stage.start([...argv, '--', process.execPath, '-e', script], { detached: true })
    await printed(recorder, '\n')
    const url = recorder.stdout().toString().trim()
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'echo',
    }
    const withMeta = Buffer.from(
      body
        .toString('latin1')
        .replace('"params":{', '"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"},'),
      'latin1',
    )
    for (let n = 0; n < 2; n += 1) {
      const came = await fetch(url, { method: 'POST', headers, body: withMeta })
      expect(await came.text()).toContain('"got":"')
    }
    recorder.child.kill('SIGTERM')
    expect(await recorder.ended).toMatchObject({ signal: null })
    expect([...recorder.stderr().toString().matchAll(told)].length).toBe(1)
  })
})
