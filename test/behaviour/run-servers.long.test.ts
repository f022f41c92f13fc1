import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { expectSchema } from './data-folder.js'
import { plainEnv, wiretape, type Run } from './run-cli.js'
import { printed, server } from './stage.js'
import { price, secret, text, useCallFiles, varying } from './run-stage.js'

const { stage, here, save } = useCallFiles()

describe('wiretape run', () => {
  it('writes the reports of diff, with names and places of the calls', async () => {
    save('a.yaml', {
      calls: [
        { name: 'good', request: price },
        { name: 'bad <&>', request: price, expect: { values: { [`${text}.price`]: 3 } } },
      ],
    })
    const kinds = ['junit', 'json', 'markdown', 'github']
    const reports = kinds.flatMap((kind) => ['--report', `${kind}=report.${kind}`])
    const { code, stdout } = await here('run', 'calls', '--json', ...reports)
    const read = (kind: string): string => readFileSync(stage.path(`report.${kind}`), 'utf8')
    expect(code).toBe(1)
    const report = JSON.parse(stdout)
    expectSchema('diff', report)
    expect(report).toMatchObject({
      before: 'calls',
      same: false,
      counts: { same: 1, changed: 1 },
      exchanges: [
        { verdict: 'same', call: { file: 'calls/a.yaml', line: 6, name: 'good' }, after: { seq: 1 } },
        {
          verdict: 'changed',
          call: { name: 'bad <&>' },
          after: { seq: 2 },
          differences: [{ before: 3, after: 4.5 }],
        },
      ],
    })
    expect(JSON.parse(read('json'))).toMatchObject({ counts: report.counts })
    expect(read('junit')).toContain(
      '<testcase classname="calls/a.yaml" name="bad &lt;&amp;&gt; (tools/call price)"',
    )
    expect(read('junit')).toMatch(/<testsuites tests="2" failures="1" errors="0">/)
    expect(read('markdown')).toMatch(/\| changed \| .*bad.* \| .*calls\/a\.yaml:9/)
    expect(read('github')).toMatch(
      /^::error file=calls\/a\.yaml,line=9,title=changed%3A bad <&> \(tools\/call price\)::/m,
    )
  })

  it('starts equal servers once, and keeps the effects of calls', async () => {
    const read = { tool: 'read_note', arguments: { id: '1' } }
    const there = { values: { [text]: 'There is no such note' } }
    save('a.yaml', { calls: [{ name: 'one', request: read, expect: there }] })
    save('b.yaml', {
      calls: [
        { name: 'two', request: read, expect: there },
        {
          name: 'other',
          server: { command: [...varying, '9'] },
          request: price,
          expect: { values: { [`${text}.price`]: 9 } },
        },
      ],
    })
    expect(await here('run', 'calls', '--record', 'tapes')).toMatchObject({ code: 0, stderr: '' })
    expect(readdirSync(stage.path('tapes')).filter((file) => file.endsWith('.jsonl'))).toHaveLength(2)
  })

  it('substitutes variables: of the file, the command line and the environment', async () => {
    save('a.yaml', {
      server: { command: [...varying, '${price}'] },
      variables: { price: 7, tool: 'price', place: text },
      calls: [
        {
          name: 'typed',
          request: { tool: '${tool}' },
          expect: { values: { [`${text}.price`]: '${price}' } },
        },
        {
          name: 'in a text',
          request: { tool: 'nosuch ${price} $${x}' },
          expect: { fails: true, values: { '$.error.message': 'Unknown tool: nosuch ${price} $${x}' } },
        },
      ],
    })
    expect(await here('run', 'calls')).toMatchObject({ code: 0 })
    expect(await here('run', 'calls', '--var', 'price=8.5')).toMatchObject({ code: 0 })
    expect(await here('run', 'calls', '--var', 'tool="status"')).toMatchObject({ code: 1 })
  })

  it('shows no value of the environment: on no screen, in no report, on no tape', async () => {
    save('a.yaml', {
      variables: { token: '${env:SHOP_TOKEN}' },
      calls: [
        { name: 'sent', request: { tool: 'add_note', arguments: { text: 'x ${token} y' } } },
        {
          name: 'repeated',
          request: { tool: 'no ${env:SHOP_TOKEN}' },
          expect: { fails: true, values: { '$.error.message': 'not ${token}' } },
        },
      ],
    })
    const reports = ['junit', 'json', 'markdown', 'github'].flatMap((kind) => [
      '--report',
      `${kind}=r.${kind}`,
    ])
    const { code, stdout, stderr } = await here('run', 'calls', '--all', '--record', 'tapes', ...reports)
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
    expect(stdout).toContain('[REDACTED')
    const files = readdirSync(stage.folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
      /^r\.|\.jsonl$/.test(file),
    )
    expect(files).toHaveLength(5)
    const told = [stdout, ...files.map((file) => readFileSync(stage.path(file), 'utf8'))].join('\n')
    expect(told).not.toContain('sesame')
  })

  it("calls an HTTP server, a client's server by its name, and a server from the command line instead", async () => {
    const http = stage.start(stage.record(varying, ['--quiet', '--listen', '127.0.0.1:0']))
    await printed(http, '\n')
    const url = http.stdout().toString().split('\n')[0]!
    const config = stage.path('.cursor/mcp.json')
    mkdirSync(dirname(config))
    const [command, ...args] = varying
    writeFileSync(config, JSON.stringify({ mcpServers: { shop: { command, args: [...args, '5'] } } }))
    save('a.yaml', {
      server: { url, headers: { 'X-Token': '${env:SHOP_TOKEN}' } },
      calls: [
        { name: 'http', request: price, expect: { values: { [`${text}.price`]: 4.5 } } },
        { name: 'client', server: 'shop', request: price, expect: { values: { [`${text}.price`]: 5 } } },
      ],
    })
    expect(await here('run', 'calls')).toMatchObject({ code: 0, stderr: '' })
    expect(await here('run', 'calls', '--record', 'tapes')).toMatchObject({ code: 0, stderr: '' })
    const { stdout } = await here('run', 'calls', '--', ...varying, '6')
    expect(stdout.match(/4\.5 → 6|5 → 6/g)).toEqual(['4.5 → 6', '5 → 6'])
    expect((await here('run', 'calls', '--url', url)).stdout).toContain('5 → 4.5')
  })

  it('goes on with other servers when one ends, and reports calls that were not sent to it', async () => {
    const lines = resolve(import.meta.dirname, '../fixtures/servers/json-lines.mjs')
    const script = `import { readMessages, send } from ${JSON.stringify(lines)}
      for await (const { id, method } of readMessages(process.stdin)) {
        if (method === 'initialize') send({ id, result: { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'x', version: '1' } } })
        if (method === 'tools/call') process.exit(3)
      }`
    writeFileSync(stage.path('ends.mjs'), script)
    const ending = { request: price, server: { command: [process.execPath, 'ends.mjs'] } }
    save('a.yaml', {
      calls: [
        { name: 'ends', ...ending },
        { name: 'good', request: price },
        { name: 'late', ...ending },
      ],
    })
    const { code, stdout, stderr } = await here('run', 'calls')
    expect(code).toBe(1)
    expect(stdout).toContain(
      '  timed out  ends (tools/call price)  calls/a.yaml:6\n    Read failed: the server exited with 3',
    )
    expect(stdout).toContain('Different: 1 same, 1 timed out, 1 not sent\n')
    expect(stderr).toMatch(/^wiretape: 1 call not sent to .* ends\.mjs: the server exited with 3\n$/)
  })

  it('speaks 2026-07-28 to a server that refuses initialize', async () => {
    save('a.yaml', {
      server: { command: server('modern-mcp.mjs') },
      calls: [
        {
          name: 'book',
          request: { tool: 'book', arguments: { what: 'a table' } },
          expect: { match: { '$.result': 'any' } },
        },
      ],
    })
    expect(await here('run', 'calls')).toMatchObject({ code: 0, stderr: '' })
  })

  it('waits for a response no longer than its limit', async () => {
    save('a.yaml', { calls: [{ name: 'a', request: price, server: { command: server('deaf.mjs') } }] })
    expect(await here('run', 'calls', '--timeout', '500ms')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/1 call not sent to .*deaf\.mjs: initialize: no response within 0\.5 s/),
    })
  })

  describe('call --save', () => {
    const read = (): string => readFileSync(stage.path('shop.yaml'), 'utf8')
    const save = (...words: string[]): Promise<Run> =>
      here('call', ...words, '--save', 'shop.yaml', '--', ...varying)

    it('adds a call and its response to a file for `run`, with matchers for values that vary', async () => {
      const args = '{"text":"milk ${x} [REDACTED]","n":1.50,"big":123456789012345678901234567890}'
      expect(await save('price')).toMatchObject({ code: 0, stderr: 'saved: shop.yaml, call "price"\n' })
      writeFileSync(stage.path('shop.yaml'), `# mine\n${read()}`)
      expect(await save('add_note', args)).toMatchObject({ code: 0 })
      expect(await save('price')).toMatchObject({ stderr: 'saved: shop.yaml, call "price 2"\n' })
      expect(await save('fail')).toMatchObject({ code: 1 })
      expect(await save('nosuch')).toMatchObject({ code: 1 })
      const text = read()
      expect(text).toMatch(/^# mine\nserver:\n {2}command:\n/)
      expect(text).toContain('n: 1.50\n        big: 123456789012345678901234567890\n')
      expect(text).toContain('$.result.structuredContent.at: timestamp')
      expect(text.match(/command:/g)).toHaveLength(1)
      expect(await here('run', 'shop.yaml')).toEqual({ code: 0, stdout: 'Same: 5 exchanges\n', stderr: '' })
      expect(await here('run', 'shop.yaml', '--', ...varying, '9')).toMatchObject({
        code: 1,
        stdout: expect.stringContaining('Different: 3 same, 2 changed'),
      })
    })

    it('writes no secret', async () => {
      const key = 'sk-ant-api03-abcdefghijklmnopqrstuvwxyz'
      const recorded = await here(
        'call',
        'add_note',
        '{"text":"tea"}',
        '--',
        ...varying,
        '4',
        '--api-key',
        key,
      )
      expect(recorded.code).toBe(0)
      const shown = (await here('inspect', 'latest')).stdout
      const number = /^ *(\d+) .*→ tools\/call add_note/m.exec(shown)![1]!
      const set = '$.params.arguments.text=x ${SHOP_TOKEN}'
      const again = ['--from', 'latest', number, '--set', set]
      expect(
        await here('call', ...again, '--save', 'shop.yaml', '--', ...varying, '--api-key', key),
      ).toMatchObject({
        code: 0,
        stderr: expect.stringContaining('it needs ${env:API_KEY}, ${env:SHOP_TOKEN}'),
      })
      expect(
        await save('add_note', JSON.stringify({ password: 'hunter2 hunter2', text: key })),
      ).toMatchObject({
        stderr: expect.stringMatching(/it needs \$\{env:PASSWORD\}, \$\{env:TEXT\}\n$/),
      })
      const text = read()
      expect(text).toContain('text: x ${env:SHOP_TOKEN}\n')
      expect(text).toMatch(/- --api-key\n {4}- \$\{env:API_KEY\}\n/)
      for (const known of [key, 'sesame', 'hunter2']) expect(text).not.toContain(known)
      const env = plainEnv({ ...stage.env, SHOP_TOKEN: secret, API_KEY: key, PASSWORD: 'x', TEXT: 'y' })
      expect(await wiretape(['run', 'shop.yaml'], { cwd: stage.folder, env })).toMatchObject({ code: 0 })
    })

    it('refuses a file of another kind, before it calls', async () => {
      writeFileSync(stage.path('shop.yaml'), 'rules: []\n')
      expect(await save('price')).toMatchObject({
        code: 2,
        stdout: '',
        stderr:
          'wiretape: --save shop.yaml: not a file of saved calls (name a new file, or one that wiretape run reads)\n',
      })
      expect(read()).toBe('rules: []\n')
    })
  })
})
