import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import { describe, expect, it } from 'vitest'
import { attach } from './attach.js'
import { canary, core, made, written } from './canary.js'
import { useHttpStage } from './http-stage.js'
import { answerTo, call, endOf, isMessage } from './mini-talk.js'
import { plainEnv, wiretape, type Run } from './run-cli.js'
import { cli, printed, server, until } from './stage.js'
import { linesOfTape } from './tape-bytes.js'

const stage = useHttpStage()

const cliRun = (...args: string[]): Promise<Run> =>
  wiretape(args, { cwd: stage.folder, env: plainEnv(stage.env), input: '' })

const secret = (id: number): string => call(id, 'echo', { [canary]: canary, text: `x ${canary} y` })

/** A server that responds to every request with a text from its environment. */
const parrot = `
  const text = process.env.PARROT ?? 'plain'
  let rest = ''
  process.stdin.on('data', (chunk) => {
    rest += chunk
    for (let at = rest.indexOf('\\n'); at >= 0; at = rest.indexOf('\\n')) {
      const { id, method } = JSON.parse(rest.slice(0, at))
      rest = rest.slice(at + 1)
      const tools = [{ name: 'a/' + text, description: 'about ' + text, inputSchema: { type: 'object' } }]
      const result = method === 'tools/list' ? { tools } : { token: text, note: 'x ' + text, [text]: [text] }
      if (id === 2 && text !== 'plain')
        process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, error: { code: 1, message: text, data: text } }) + '\\n')
      else if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n')
    }
  })`

describe('a secret that a person or a rule touches is on no disk, in no report and not sent to onlookers', () => {
  it('held, edited, dropped, answered, injected and noted', async () => {
    const session = stage.path('session.json')
    const recorder = stage.start(
      stage.record(server('mini-mcp.mjs'), ['--intercept', '--session-file', session]),
    )
    const screen = await attach(stage)
    const onlooker = await attach(stage, { role: 'onlooker' })
    const tail = stage.start([process.execPath, cli, 'tail'])
    const tailJson = stage.start([process.execPath, cli, 'tail', '--json'])
    await recorder.send(secret(1) + secret(2) + secret(3) + secret(4))
    const held: unknown[] = []
    for (const n of [1, 2, 3, 4]) {
      const { text, message } = await screen.held(n)
      // The text of a held message has the secret: a person needs it to decide.
      expect(text).toContain(canary)
      held.push(message)
    }
    const edited = call(1, 'echo', { text: canary, again: `z ${canary}` }).trim()
    await screen.tell({ type: 'edit', message: held[0], text: edited })
    await screen.tell({ type: 'drop', message: held[1] })
    await screen.tell({ type: 'answer', message: held[2], result: JSON.stringify({ [canary]: canary }) })
    await screen.tell({ type: 'annotate', message: held[0], text: `note ${canary}` })
    await screen.tell({
      type: 'inject',
      direction: 'server_to_client',
      text: JSON.stringify({ jsonrpc: '2.0', method: `notifications/${canary}`, params: { a: canary } }),
    })
    await screen.tell({ type: 'forward-all' })
    await screen.tell({ type: 'save', path: stage.path('saved.json') })
    await screen.tell({ type: 'hold', on: false })
    await answerTo(recorder, 4)
    expect(recorder.stdout().toString()).toContain(canary)
    for (const told of [tail, tailJson]) await printed(told, 'dropped')
    const lines = await endOf(stage, recorder)
    await Promise.all([tail.ended, tailJson.ended, onlooker.closed])
    expect(new Set(lines.map(({ type }) => type))).toEqual(
      new Set(['meta', 'held', undefined, 'dropped', 'note', 'end']),
    )
    expect(lines.filter((line) => line['modified'] === true)).not.toEqual([])
    expect(JSON.stringify([onlooker.hello, onlooker.events])).not.toContain(core)
    // Only `held` events, which a person reads, may have the secret.
    const others = screen.events.filter(({ type }) => type !== 'held').map(({ text: _, ...event }) => event)
    expect(JSON.stringify([screen.hello, others])).not.toContain(core)
    for (const told of [tail, tailJson]) {
      expect(told.stdout().length).toBeGreaterThan(500)
      expect(told.stdout().toString() + told.stderr().toString()).not.toContain(core)
    }
    expect(recorder.stderr().toString()).not.toContain(core)
    expect(written(stage.folder)).not.toContain(core)
    expect(readFileSync(session, 'utf8').length).toBeGreaterThan(500)
    expect(await made(stage, stage.tape())).not.toContain(core)
  })

  it('in names, responses and changes of rules', async () => {
    const rules = {
      rules: [
        { name: `a ${canary}`, when: 'id:1 dir:in', respond: { error: { code: -1, message: canary } } },
        { name: `d ${canary}`, when: 'id:2 dir:in', drop: true },
        { name: `s ${canary}`, when: 'id:3 dir:in', set: { '$.params.arguments.text': canary } },
      ],
    }
    writeFileSync(stage.path('rules.json'), JSON.stringify(rules))
    const recorder = stage.start(stage.record(server('mini-mcp.mjs'), ['--rules', 'rules.json']))
    const onlooker = await attach(stage, { role: 'onlooker' })
    await recorder.send(secret(1) + secret(2) + secret(3))
    await answerTo(recorder, 3)
    const lines = await endOf(stage, recorder)
    await onlooker.closed
    rmSync(stage.path('rules.json'))
    const ruled = lines.filter(({ rule }) => rule !== undefined).map(({ rule }) => String(rule)[0])
    expect(new Set(ruled)).toEqual(new Set(['a', 'd', 's']))
    expect(JSON.stringify([onlooker.hello, onlooker.events])).not.toContain(core)
    expect(written(stage.folder)).not.toContain(core)
    expect(await made(stage, stage.tape())).not.toContain(core)
  })

  it('on a strict tape and on the full one beside it, in names, notes and metadata', async () => {
    const session = stage.path('session.json')
    const told = ['--label', `l ${canary}`, '--note', canary, '--target', `t ${canary}`]
    const meta = ['--meta', `${canary}=${canary}`, '--strict-v1', '--session-file', session]
    const recorder = stage.start(stage.record(server('mini-mcp.mjs'), [...told, ...meta]))
    const screen = await attach(stage)
    await recorder.send(secret(1))
    await answerTo(recorder, 1)
    await until('both tapes have it', () => {
      const messages = stage.tapes().map((path) => linesOfTape(path).filter(isMessage).length)
      return messages.length === 2 && messages.every((count) => count >= 2)
    })
    expect(written(stage.folder)).not.toContain(core)
    expect(JSON.stringify([screen.hello, screen.events])).not.toContain(core)
    await endOf(stage, recorder)
    expect(written(stage.folder)).not.toContain(core)
    expect(await made(stage, stage.tape())).not.toContain(core)
  })
})

describe('a secret of a live server is in no file', () => {
  const talk = [1, 2, 3]
    .map((id) => {
      const method = id === 3 ? 'tools/list' : 'tools/call'
      return `${JSON.stringify({ jsonrpc: '2.0', id, method, params: { name: 'x', n: id, v: 'plain' } })}\n`
    })
    .join('')
  const command = (): string[] => [process.execPath, stage.path('parrot.mjs'), `--key=${canary}`]

  async function record(text: string, ...options: string[]): Promise<string> {
    writeFileSync(stage.path('parrot.mjs'), parrot)
    const { code } = await wiretape(
      ['record', '--out', stage.out, ...options, '--', process.execPath, stage.path('parrot.mjs')],
      { cwd: stage.folder, env: plainEnv({ ...stage.env, PARROT: text }), input: talk },
    )
    expect(code).toBe(0)
    return stage.tape()
  }
  const live = (...args: string[]): Promise<Run> =>
    wiretape(args, { cwd: stage.folder, env: plainEnv({ ...stage.env, PARROT: canary }), input: talk })
  const reports = ['junit', 'json', 'markdown', 'github'].flatMap((kind) => [
    '--report',
    `${kind}=now.${kind}`,
  ])

  it('that replay writes, of whatever kind, nor on its screen', async () => {
    const tape = await record('plain')
    const set = ['--set', `$.params.v=${canary}`]
    for (const options of [['--all'], ['--json'], ['--level', 'exact'], ['--repeat', '2'], ['--update']]) {
      const run = await live(
        'replay',
        tape,
        '--output',
        'out.json',
        ...options,
        ...set,
        ...reports,
        '--',
        ...command(),
      )
      expect(run.stdout.length).toBeGreaterThan(300)
      expect(run.stdout + run.stderr).not.toContain(core)
      const results = JSON.parse(readFileSync(stage.path('out.json'), 'utf8')) as { results: unknown[] }
      expect(results.results.length).toBeGreaterThan(2)
      expect(readdirSync(stage.folder).filter((name) => name.startsWith('now.'))).toHaveLength(4)
      expect(written(stage.folder)).not.toContain(core)
    }
  })

  it('but where the recording was made without redaction', async () => {
    const tape = await record('plain', '--no-redact-defaults')
    await live('replay', tape, '--output', 'out.json', '--', ...command())
    expect(readFileSync(stage.path('out.json'), 'utf8')).toContain(core)
  })

  it('that a mock copies', async () => {
    const tape = await record('plain')
    const input = talk.replaceAll('plain', canary)
    const { code } = await wiretape(
      ['mock', tape, '--fallback', '--record', 'all', '--out', 'copy.jsonl', '--', ...command()],
      { cwd: stage.folder, env: plainEnv({ ...stage.env, PARROT: canary }), input },
    )
    expect(code).toBe(0)
    expect(readFileSync(stage.path('copy.jsonl'), 'utf8')).toContain('[REDACTED]')
    expect(written(stage.folder)).not.toContain(core)
    expect(await made(stage, stage.path('copy.jsonl'))).not.toContain(core)
  })

  it('that diff writes, with a secret in the names of the recordings', async () => {
    const tape = await record(canary)
    mkdirSync(stage.path('named'))
    const named = stage.path(`named/${canary}.jsonl`)
    renameSync(tape, named)
    const other = await record('plain')
    await cliRun('diff', named, other, ...reports)
    const { stdout } = await cliRun('diff', named, other, '--json')
    rmSync(named)
    expect(stdout.length).toBeGreaterThan(500)
    expect(stdout).not.toContain(core)
    expect(readdirSync(stage.folder).filter((name) => name.startsWith('now.'))).toHaveLength(4)
    expect(written(stage.folder)).not.toContain(core)
  })
})

describe('a secret that passes the forward proxy', () => {
  it('is nowhere on the disk, of any origin, login or tunnel', async () => {
    const upstream = (): Promise<string> =>
      stage.serve((request, response) => {
        request.resume().on('end', () => {
          const headers = { 'content-type': 'application/json', 'www-authenticate': `Bearer x="${canary}"` }
          if (request.url!.includes('well-known'))
            return response.writeHead(200, headers).end(JSON.stringify({ issuer: `https://h/${canary}` }))
          if (request.url!.includes('token'))
            return response
              .writeHead(200, headers)
              .end(JSON.stringify({ access_token: canary, scope: canary }))
          response.writeHead(200, { ...headers, [`x-${canary}`]: canary, 'mcp-session-id': canary })
          response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { [canary]: canary } }))
        })
      })
    const origins = [await upstream(), await upstream()]
    const argv = stage.recordWith('--forward', '--listen', '127.0.0.1:0', '--label', canary)
    const recorder = stage.start(argv, { detached: true })
    await printed(recorder, 'HTTP_PROXY')
    const proxy = new URL(/HTTP_PROXY='?(http:[^'\s]+)/.exec(recorder.stdout().toString())![1]!)
    const send = (url: string, method: string, type: string, body: string): Promise<void> =>
      new Promise((done, failed) => {
        const headers = { 'content-type': type, authorization: `Bearer ${canary}`, [`x-${canary}`]: canary }
        const options = { host: proxy.hostname, port: proxy.port, path: url, method, headers }
        const request = http.request(options, (response) => void response.resume().on('end', () => done()))
        request.on('error', failed).end(body)
      })
    for (const url of origins) {
      const origin = new URL(url).origin
      await send(url, 'POST', 'application/json', secret(1).trim())
      await send(`${url}/${canary}?code=${canary}&x=${canary}`, 'GET', 'text/plain', '')
      await send(`${origin}/.well-known/oauth-authorization-server?${canary}`, 'GET', 'text/plain', '')
      const form = `grant_type=authorization_code&code=${canary}&client_secret=${canary}&x=${canary}`
      await send(`${origin}/token`, 'POST', 'application/x-www-form-urlencoded', form)
    }
    const tunnel = net.connect(Number(proxy.port), proxy.hostname)
    tunnel.write(`CONNECT ${canary}.invalid:443 HTTP/1.1\r\nhost: ${canary}.invalid:443\r\n\r\n`)
    tunnel.on('error', () => undefined)
    await new Promise((done) => tunnel.once('data', done).once('close', done))
    tunnel.destroy()
    recorder.child.kill('SIGTERM')
    await recorder.ended
    const records = stage.tapes().flatMap((path) => linesOfTape(path))
    expect(records.filter(isMessage).length).toBeGreaterThanOrEqual(4)
    expect(written(stage.folder)).not.toContain(core)
    expect(recorder.stderr().toString()).not.toContain(core)
    for (const path of stage.tapes()) expect(await made(stage, path)).not.toContain(core)
  })
})
