import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { call as said, tapeOf } from '../compare/stage.js'
import { call, opening, type Client } from './replay-stage.js'
import { plainEnv, run, type Run, wiretape } from './run-cli.js'
import { cli, createStage, printed, server } from './stage.js'
import { found, release, useReleases } from './replay-release-stage.js'

const { stage, replay } = useReleases()

describe('wiretape replay', () => {
  describe.each(['stdio', 'HTTP'])('over %s', (transport) => {
    /** The same against a server over HTTP. */
    async function replayHttp(change: string): Promise<Run> {
      const child = spawn(process.execPath, release('http', change).slice(1), {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const closed = new Promise((done) => child.once('close', done))
      try {
        const [line] = await once(child.stdout, 'data')
        return await stage.run('replay', 'base.jsonl', '--url', String(line).trim())
      } finally {
        child.kill('SIGKILL')
        await closed
      }
    }
    const replayed = (change: string): Promise<Run> =>
      transport === 'HTTP' ? replayHttp(change) : replay('base.jsonl', release(change))

    it.each<[string, string[], number]>([
      ['none', [], 0],
      [
        'rename',
        [
          'error now tools/call search #7',
          'breaking tool search removed',
          'compatible tool search-files added',
        ],
        1,
      ],
      ['describe', ['review tool open: description changed'], 1],
      ['drop-field', ['changed tools/call search #7'], 1],
      ['slow', [], 0],
      // The recorded client requested two pages; these servers have one, and three.
      ['one-page', [], 0],
      ['small-pages', ['compatible tool read: not on the requested pages; the list has more pages'], 1],
      // The handle that `read` sends was never returned by the server.
      ['fail', ['error now tools/call open #9', 'error now tools/call read #11'], 1],
    ])('finds exactly what changed: %s', async (change, expected, code) => {
      const run = await replayed(change)
      expect(found(run)).toEqual(expected)
      expect(run.code).toBe(code)
    })
  })

  it('ends when the handshake is refused', async () => {
    const run = await replay('base.jsonl', release('refuse'))
    expect(run.stdout).toContain('Stopped: the handshake was refused: error -32000: Not today')
    expect(run.code).toBe(1)
  })

  it.each([
    ['error', 'the recording has no such server request'],
    ['empty', '{}'],
  ])('responds with %s where the recording has no response', async (unanswered, answer) => {
    const recorded = [{ method: 'initialize', params: {}, result: {} }, said('ask', {}, 'whatever')]
    writeFileSync(stage.path('unasked.jsonl'), tapeOf(recorded))
    const run = await replay('unasked.jsonl', server('mini-mcp.mjs'), '--unanswered', unanswered)
    expect(found(run)).toContain('new roots/list (sent by the server)')
    expect(run.stdout).toContain(answer)
  })

  it('makes a handshake where the recording has none, unless told not to', async () => {
    writeFileSync(stage.path('no-opening.jsonl'), tapeOf([said('add', { a: 1, b: 2 }, '3')]))
    expect(await replay('no-opening.jsonl', server('mini-mcp.mjs'))).toMatchObject({ code: 0 })
    const refused = await replay('no-opening.jsonl', release('refuse'))
    expect(refused.stdout).toContain('Stopped: the handshake was refused')
    const bare = await replay('no-opening.jsonl', release('refuse'), '--no-handshake')
    expect(bare.stdout).toContain('error now  tools/call add')
  })

  it('sends only the messages that a filter selects, and the handshake', async () => {
    const run = await replay('base.jsonl', release(), '--filter', 'tool:search')
    expect(run.stdout).toContain('Replaying 3 messages')
    expect(run.code).toBe(0)
  })

  it('expects no request of the server that followed from messages outside of the filter', async () => {
    const run = await replay('asks.jsonl', server('mini-mcp.mjs'), '--filter', 'tool:progress')
    expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining('Same: ') })
  })

  it('says that a server which knows no such URL may speak the older transport', async () => {
    const page = createServer((_, response) => void response.writeHead(404).end('<!DOCTYPE html>\n'))
    await new Promise<void>((done) => page.listen(0, '127.0.0.1', done))
    const { port } = page.address() as AddressInfo
    const run = await stage.run('replay', 'base.jsonl', '--url', `http://127.0.0.1:${port}/sse`)
    expect(run.stdout).toContain('HTTP 404 (for an HTTP+SSE server, use the transport sse)\n')
    await new Promise((done) => page.close(done))
  })

  it('runs several times, and at the same time, and as recorded', async () => {
    const run = await replay(
      'base.jsonl',
      release(),
      '--repeat',
      '3',
      '--parallel',
      '2',
      '--concurrency',
      'recorded',
      '--pace',
      '100x',
    )
    expect(run.stdout).toContain('Same: 18 exchanges')
    expect(run.stdout).toMatch(/search +3 → 3/)
  })

  it('leaves a call out whose values were redacted, says so, and sends it with its tag in the environment', async () => {
    const messages = [
      ...opening,
      call(1, 'echo', { text: 'a' }),
      call(2, 'echo', { text: 'x', password: 'hunter2-hunter2' }),
    ]
    await stage.record('part.jsonl', { messages }, server('mini-mcp.mjs'))
    const [, tag = ''] = /"tag":"([0-9a-f]{16})"/.exec(readFileSync(stage.path('part.jsonl'), 'utf8'))!
    const report = stage.path('part.md')
    const without = await replay('part.jsonl', server('mini-mcp.mjs'), '--report', `markdown=${report}`)
    expect(without.code).toBe(0)
    const said = '#5 tools/call echo was skipped: $.params.arguments.password was redacted'
    expect(without.stdout).toContain(said)
    expect(without.stdout).toContain(`WIRETAPE_SECRET_${tag}=VALUE`)
    expect(without.stdout).toContain('Same: 2 exchanges')
    expect(readFileSync(report, 'utf8')).toContain('was skipped')
    const results = stage.path('part-results.json')
    const env = { ...plainEnv(), [`WIRETAPE_SECRET_${tag}`]: 'hunter2-hunter2' }
    const given = await wiretape(
      ['replay', 'part.jsonl', '--output', results, '--', ...server('mini-mcp.mjs')],
      { cwd: stage.folder, env },
    )
    expect(given).toMatchObject({ code: 0, stdout: expect.stringContaining('Same: 3 exchanges') })
    expect(given.stdout).not.toContain('left out')
    expect(readFileSync(results, 'utf8')).not.toContain('hunter2')
  })

  it('needs the redacted values, and takes them from the command line', async () => {
    const secret: Client = {
      messages: [...opening, call(1, 'echo', { text: 'x', password: 'hunter2-hunter2' })],
    }
    await stage.record('secret.jsonl', secret, server('mini-mcp.mjs'))
    const place = '$.params.arguments.password'
    const tag = /"tag":"([0-9a-f]{16})"/.exec(readFileSync(stage.path('secret.jsonl'), 'utf8'))![1]!
    const refused = await replay('secret.jsonl', server('mini-mcp.mjs'))
    expect(refused.code).toBe(2)
    expect(refused.stderr).toBe(
      `wiretape: redacted values are missing: #3 tools/call echo: ${place} (provide them with --set '${place}=VALUE', --set '${place}=\${VARIABLE}' or WIRETAPE_SECRET_${tag}=VALUE in the environment)\n`,
    )
    const results = stage.path('secret-results.json')
    expect(
      await replay('secret.jsonl', server('mini-mcp.mjs'), '--set', `${place}=again`, '--output', results),
    ).toMatchObject({ code: 0 })
    const written = readFileSync(results, 'utf8')
    expect(written).toContain('"password":"[REDACTED]"')
    expect(written).not.toContain('again')
  })

  it('accepts no missing response, and says so', async () => {
    const before = readFileSync(stage.path('asks.jsonl'), 'utf8')
    writeFileSync(stage.path('late.jsonl'), tapeOf([said('search', {}, 'x')]))
    const silent = ['-e', 'process.stdin.resume()']
    const run = await replay('asks.jsonl', [process.execPath, ...silent], '--update', '--timeout', '0.5')
    expect(run.code).toBe(1)
    const answers = `process.stdin.on('data', (data) => String(data).split('\\n').forEach((line) => {
      const { id, method } = line ? JSON.parse(line) : {}
      if (method === 'initialize') console.log(JSON.stringify({ jsonrpc: '2.0', id, result: { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 's', version: '1' } } }))
    }))`
    const late = await replay('late.jsonl', [process.execPath, '-e', answers], '--update', '--timeout', '5')
    expect(late.code).toBe(1)
    expect(late.stdout).toMatch(/^Not accepted: 1 exchange without a new response to a recorded request$/m)
    expect(readFileSync(stage.path('asks.jsonl'), 'utf8')).toBe(before)
  })

  it('stops when the URL refuses connections', async () => {
    const dying = `const http = require('node:http')
      const server = http.createServer((request, response) => {
        let body = ''
        request.on('data', (chunk) => (body += chunk)).on('end', () => {
          const { id, method } = JSON.parse(body || '{}')
          if (method === 'tools/list') process.exit()
          const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 's', version: '1' } }
          response.writeHead(id === undefined ? 202 : 200, { 'content-type': 'application/json' })
          response.end(id === undefined ? '' : JSON.stringify({ jsonrpc: '2.0', id, result }))
        })
      }).listen(0, '127.0.0.1', () => console.log('http://127.0.0.1:' + server.address().port + '/mcp'))`
    const theatre = createStage()
    const actor = theatre.start([process.execPath, '-e', dying])
    await printed(actor, '/mcp')
    const run = await stage.run('replay', 'base.jsonl', '--url', actor.stdout().toString().trim())
    await theatre.close()
    expect(run.code).toBe(1)
    expect(run.stdout).toMatch(/^Stopped: the server is unreachable: the connection was refused$/m)
    expect(run.stdout).toMatch(/ [1-9]\d* not sent/)
  })

  it('refuses a value that has no place in any message', async () => {
    const run = await replay('base.jsonl', release(), '--set', '$.params.nope=1')
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toMatch(
      /^wiretape: cannot set \$\.params\.nope: no client message has a value at this path/,
    )
    const open = await replay('base.jsonl', release(), '--set', '$.params[=1')
    expect(open.stderr).toContain('--set: the path has an unclosed bracket')
  })

  it('says when requests get two responses, or responses have unknown ids', async () => {
    const twice = `const { spawn } = require('node:child_process')
      const child = spawn(process.execPath, ${JSON.stringify(release().slice(1))}, { stdio: ['pipe', 'pipe', 'inherit'] })
      process.stdin.pipe(child.stdin)
      let rest = ''
      child.stdout.on('data', (data) => {
        const lines = (rest + data).split('\\n')
        rest = lines.pop()
        for (const line of lines) console.log(line + '\\n' + line + '\\n{"jsonrpc":"2.0","id":"x","result":{}}')
      })`
    const run = await replay('base.jsonl', [process.execPath, '-e', twice])
    expect(run.stdout).toMatch(/^Note: the server sent more than one response to \d+ requests, first id 0$/m)
    expect(run.stdout).toMatch(/^Note: \d+ responses have unknown ids, first: "x"$/m)
  })

  it('sets a value only where one was redacted, and keeps it out of an updated recording', async () => {
    const client: Client = {
      messages: [
        ...opening,
        call(1, 'echo', { auth: { password: 'hunter2-hunter2' } }),
        call(2, 'echo', { auth: 'none' }),
        call(3, 'search', { query: 'x' }),
      ],
    }
    await stage.record('places.jsonl', client, release())
    const sets = ['--set', '$.params.arguments.auth=given-1', '--set', '$.params.arguments.query=given-2']
    const results = stage.path('places.json')
    const run = await replay('places.jsonl', release('drop-field'), ...sets, '--output', results, '--update')
    expect(run).toMatchObject({ code: 0, stderr: '' })
    const sent = JSON.parse(readFileSync(results, 'utf8')).results.map(
      ({ sent_message }: { sent_message: { params?: object } }) => sent_message.params,
    )
    expect(sent.slice(2)).toMatchObject([
      { arguments: { auth: 'given-1' } },
      { arguments: { auth: 'none' } },
      { arguments: { query: 'given-2' } },
    ])
    const updated = readFileSync(stage.path('places.jsonl'), 'utf8')
    expect(updated).not.toContain('given-')
    expect(updated).not.toContain('took')
  })

  it('keeps a given secret out of an updated recording also where the server repeats it', async () => {
    const client: Client = {
      messages: [...opening, call(1, 'echo', { password: 'hunter2-hunter2' }), call(2, 'search')],
    }
    await stage.record('repeats.jsonl', client, release())
    const secret = 'given-and-repeated'
    const set = ['--set', '$.params.arguments.password=${REPLAY_SECRET}']
    const command = [process.execPath, cli, 'replay', 'repeats.jsonl', ...set, '--update', '--']
    const updated = await run([...command, ...release('repeat', 'drop-field')], {
      cwd: stage.folder,
      env: plainEnv({ REPLAY_SECRET: secret }),
    })
    expect(updated).toMatchObject({ code: 0, stderr: '' })
    const text = readFileSync(stage.path('repeats.jsonl'), 'utf8')
    expect(text).not.toContain(secret)
    expect(text).toContain('no tool echo: [REDACTED]')
    const again = await run(
      [...command.filter((word) => word !== '--update'), ...release('repeat', 'drop-field')],
      {
        cwd: stage.folder,
        env: plainEnv({ REPLAY_SECRET: 'another-secret' }),
      },
    )
    expect(again).toMatchObject({ code: 0, stderr: '' })
  })

  it('reports output of a server that is not a message, and does not count it', async () => {
    const reports = ['json', 'junit', 'markdown', 'github'].flatMap((kind) => [
      '--report',
      `${kind}=noise.${kind}`,
    ])
    const run = await replay('base.jsonl', release('chatty'), ...reports)
    expect(run).toMatchObject({ code: 0, stderr: '' })
    const note = 'the server sent invalid JSON-RPC 3 times, first: Starting server…'
    expect(run.stdout).toContain(`Note: ${note}\nSame: 6 exchanges`)
    const read = (kind: string): string => readFileSync(stage.path(`noise.${kind}`), 'utf8')
    // The stage has rules beside the recording; every report names them first.
    const rules = 'the rules of base.compare.yaml hid no difference; --no-compare-file compares without them'
    expect(JSON.parse(read('json'))).toMatchObject({ same: true, notes: [rules, note] })
    expect(read('junit')).toContain(`Note: ${note}</system-out>`)
    expect(read('markdown')).toContain(note)
    expect(read('github')).toContain(`::notice title=note::${note}\n`)
  })

  it('sends the headers that it is given, with variables of the environment in them', async () => {
    const asked: (string | undefined)[] = []
    const refusing = createServer(({ headers }, response) => {
      asked.push(headers.authorization)
      response.writeHead(401).end()
    })
    await new Promise<void>((done) => refusing.listen(0, '127.0.0.1', done))
    const url = `http://127.0.0.1:${(refusing.address() as AddressInfo).port}/mcp`
    const header = 'Authorization: Bearer ${REPLAY_TOKEN}'
    const command = [process.execPath, cli, 'replay', 'base.jsonl', '--url', url, '--header', header]
    const { code } = await run(command, {
      cwd: stage.folder,
      env: plainEnv({ REPLAY_TOKEN: 'a-token' }),
    })
    expect(code).toBe(1)
    expect(asked).toEqual(['Bearer a-token'])
    await new Promise((done) => refusing.close(done))
  })

  it.each([
    [['none.jsonl', '--', 'node'], 'none.jsonl has no client message'],
    [['base.jsonl'], 'a server to replay against is needed'],
    [
      ['base.jsonl', '--url', 'http://127.0.0.1:1/mcp'],
      'cannot reach http://127.0.0.1:1: the connection was refused',
    ],
    [['base.jsonl', '--', './no-such-server'], 'no such program'],
    [
      ['base.jsonl', '--url', 'http://127.0.0.1:1/mcp', '--header', 'A: ${NOT_IN_ANY_ENVIRONMENT}'],
      '--header A: unknown variable NOT_IN_ANY_ENVIRONMENT',
    ],
    [
      ['base.jsonl', '--url', 'http://127.0.0.1:1/mcp', '--header', 'Content-Length: 3'],
      '--header Content-Length: wiretape sets this header itself',
    ],
    [['base.jsonl', '--set', '$.a', '--', 'node'], '--set: the value is missing'],
    [['base.jsonl', '--filter', 'tool:', '--', 'node'], '--filter, column 6: '],
    [
      ['base.jsonl', '--filter', 'tool:zzz', '--', 'node'],
      'base.jsonl has no message that matches the filter',
    ],
    [['base.jsonl', '--output', './base.jsonl', '--', 'node'], '--output ./base.jsonl is also the input'],
    [
      ['base.jsonl', '--report', 'json=base.jsonl', '--', 'node'],
      '--report json: base.jsonl is also the input',
    ],
    [
      ['base.jsonl', '--output', 'same', '--report', 'json=same', '--', 'node'],
      '--output same and --report json=same write the same file',
    ],
    [['packed.jsonl.gz', '--update', '--', 'node'], 'packed.jsonl.gz is compressed or not a file'],
    [['base.jsonl', '--update', '--repeat', '2', '--', 'node'], '--update needs a file, and one run'],
    [['base.jsonl', '--update', '--parallel', '2', '--', 'node'], '--update needs a file, and one run'],
  ])('ends with 2 and one line: %s', async (args, message) => {
    writeFileSync(stage.path('none.jsonl'), tapeOf([]))
    const recorded = readFileSync(stage.path('base.jsonl'))
    writeFileSync(stage.path('packed.jsonl.gz'), gzipSync(recorded))
    const { code, stderr } = await stage.run('replay', ...args)
    expect(code).toBe(2)
    expect(stderr).toContain(message)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
    expect(readFileSync(stage.path('base.jsonl'))).toEqual(recorded)
  })

  it('prints its results so far when the server cannot be started again', async () => {
    const [, ...words] = release()
    const results = stage.path('once.json')
    const options = ['--repeat', '3', '--output', results, '--report', `junit=${stage.path('once.xml')}`]
    const launch = `#!/bin/sh\nrm -f "$0"\nexec "${process.execPath}" ${words.map((word) => `'${word}'`).join(' ')}\n`
    writeFileSync(stage.path('once.sh'), launch, { mode: 0o755 })
    const run = await stage.run('replay', 'base.jsonl', ...options, '--', './once.sh')
    expect(run).toMatchObject({ code: 1, stderr: '' })
    expect(run.stdout).toMatch(/^Stopped: run 2: .*no such program/m)
    const file: { results: { verdict: string; run: number }[] } = JSON.parse(readFileSync(results, 'utf8'))
    expect(
      file.results.filter(({ run: number, verdict }) => number === 1 && verdict === 'same'),
    ).toHaveLength(6)
    expect(readFileSync(stage.path('once.xml'), 'utf8')).toContain('run 2: ')
  })
})
