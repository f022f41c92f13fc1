import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { attach } from './attach.js'
import { canary, core, made, written } from './canary.js'
import { post, useHttpStage } from './http-stage.js'
import { plainEnv, wiretape } from './run-cli.js'
import { linesOfTape } from './tape-bytes.js'

const stage = useHttpStage()

const everywhere = (id: unknown): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id,
    method: `tools/${canary}`,
    params: {
      [canary]: canary,
      _meta: { [canary]: [canary] },
      name: canary,
      arguments: { text: `x ${canary} y` },
    },
  })

describe('a secret in any place of a recording is nowhere on the disk, in no report and not sent to screens', () => {
  it('of a server on stdio', async () => {
    const fake = `
      process.stderr.write('note ${canary}\\n')
      process.stdout.write('no message ${canary}\\n')
      process.stdout.write(Buffer.concat([Buffer.from('${canary} '), Buffer.from([0xff, 0xfe, 10])]))
      let rest = ''
      process.stdin.on('data', (chunk) => {
        rest += chunk
        for (let at = rest.indexOf('\\n'); at >= 0; at = rest.indexOf('\\n')) {
          const line = rest.slice(0, at)
          rest = rest.slice(at + 1)
          const { id } = JSON.parse(line)
          process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: { '${canary}': ['${canary}'] } }) + '\\n')
          process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, error: { code: 1, message: '${canary}', data: '${canary}' } }) + '\\n')
        }
      })`
    writeFileSync(stage.path('fake.mjs'), fake)
    const session = stage.path('session.json')
    const rule = { name: `rule ${canary}`, regex: 'no message' }
    writeFileSync(stage.path('redact.json'), JSON.stringify({ rules: [rule] }))
    const redact = ['--redact-file', 'redact.json']
    const told = [...redact, '--label', `my ${canary}`, '--note', `note ${canary}`, '--meta', `k=${canary}`]
    const args = ['record', '--out', stage.out, '--session-file', session, ...told]
    const command = [process.execPath, stage.path('fake.mjs'), `--x=${canary}`, `y ${canary}`]
    const run = await wiretape([...args, '--', ...command], {
      cwd: stage.folder,
      env: plainEnv(stage.env),
      input: `${everywhere(1)}\n${everywhere(canary)}\n[${everywhere(3)},${everywhere(4)}]\n`,
    })
    expect(run.code).toBe(0)
    writeFileSync(stage.path('fake.mjs'), '')
    writeFileSync(stage.path('redact.json'), '')
    expect(linesOfTape(stage.tape()).at(-1)).toMatchObject({
      wiretape: { redacted: { 'github-token': expect.any(Number), 'rule [REDACTED]': 1 } },
    })
    expect(written(stage.folder)).not.toContain(core)
    expect(readFileSync(session, 'utf8').length).toBeGreaterThan(500)
    expect(await made(stage, stage.tape())).not.toContain(core)
  })

  it('of a server over HTTP, in every field of events and headers', async () => {
    const upstream = await stage.serve((request, response) => {
      request.resume().on('end', () => {
        const headers = {
          [`x-${canary}`]: canary,
          'x-plain': canary,
          location: `https://h/${canary}?a=${canary}`,
        }
        if (request.method === 'GET')
          return response
            .writeHead(404, canary, { ...headers, 'content-type': 'text/plain' })
            .end(`no ${canary}`)
        if (request.method === 'DELETE') return response.writeHead(500, headers).end(`{"error":"${canary}"}`)
        response.writeHead(200, { ...headers, 'content-type': 'text/event-stream', 'mcp-session-id': canary })
        response.write(`: comment ${canary}\nid: ${canary}\nevent: ${canary}\ndata: ${canary}\n\n`)
        response.write(
          `id: ${canary}\ndata: {"jsonrpc":"2.0","method":"notifications/${canary}","params":{"a":"${canary}"}}\n\n`,
        )
        response.write(`id: ${canary}\n\n`)
        response.end(
          `id: x ${canary}\nevent: message\ndata: {"jsonrpc":"2.0","id":1,"result":{"${canary}":"${canary}"}}\n\n`,
        )
      })
    })
    const session = stage.path('session.json')
    const { recorder, url } = await stage.recordUrl(upstream, [
      '--session-file',
      session,
      '--label',
      `l ${canary}`,
    ])
    const attached = await attach(stage)
    const headers = { [`x-${canary}`]: canary, 'x-other': `a ${canary}`, referer: `https://h/?x=${canary}` }
    await post(`${url}/${canary}?x=${canary}&${canary}=1`, everywhere(1), headers)
    await post(url, `not json ${canary}`, headers)
    await fetch(`${url}/${canary}`, { headers })
    await fetch(url, { method: 'DELETE', headers })
    await attached.event('the last exchange', (event) => JSON.stringify(event).includes('DELETE'))
    expect(JSON.stringify([attached.hello, attached.events])).not.toContain(core)
    attached.close()
    const lines = await stage.end(recorder)
    expect(lines.length).toBeGreaterThan(6)
    expect(written(stage.folder)).not.toContain(core)
    expect(await made(stage, stage.tape())).not.toContain(core)
  })
})
