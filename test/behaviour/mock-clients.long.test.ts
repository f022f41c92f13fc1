import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { wiretape } from './run-cli.js'
import { cli, printed, server, until } from './stage.js'
import { asked, call, end, meta, useMockedTape } from './mock-stage.js'

const { stage, tapeOf } = useMockedTape()

describe('mock', () => {
  it('responds to equal calls in the recorded order, and repeats the last response on request', async () => {
    const tape = tapeOf(
      `> ${call('1', 'next')}`,
      '< {"id":1,"result":{"n":1}}',
      `> ${call('2', 'next')}`,
      '< {"id":2,"result":{"n":2}}',
    )
    const calls = ['7', '8', '9'].map((id) => call(id, 'next'))
    const strict = await asked([tape], ...calls)
    expect(strict.lines.slice(0, 2)).toEqual([
      '{"jsonrpc":"2.0","id":7,"result":{"n":1}}',
      '{"jsonrpc":"2.0","id":8,"result":{"n":2}}',
    ])
    expect(JSON.parse(strict.lines[2]!)).toMatchObject({
      id: 9,
      error: { code: -31404, data: { reason: 'spent', times: 2 } },
    })
    expect(strict.stderr).toBe(
      'wiretape: tools/call next was recorded 2 times, and every response was used; --repeat-last repeats the last one (#2)\n',
    )
    const again = await asked([tape, '--repeat-last'], ...calls)
    expect(again.lines[2]).toBe('{"jsonrpc":"2.0","id":9,"result":{"n":2}}')
    expect(again.stderr).toBe('')
  })

  it('names the nearest recorded call and the difference when a call was not recorded', async () => {
    const tape = tapeOf(
      `> ${call('1', 'echo', '{"text":"hello","n":1}')}`,
      '< {"id":1,"result":{}}',
      `> ${call('2', 'add', '{"text":"hullo","n":1}')}`,
      '< {"id":2,"result":{}}',
    )
    const { lines, stderr, code } = await asked(
      [tape],
      call('5', 'echo', '{"text":"hullo","n":1,"more":[]}'),
      '{"id":6,"method":"prompts/list"}',
      '{"id":7,"method":"ping"}',
    )
    expect(JSON.parse(lines[0]!).error).toEqual({
      code: -31404,
      message:
        'wiretape mock: tools/call echo was not recorded with these params; the nearest call is #0: ' +
        'params.arguments.text was "hello" and is "hullo"; params.arguments.more was absent',
      data: {
        reason: 'unknown',
        nearest: {
          message: 0,
          differences: [
            { at: '/params/arguments/text', recorded: '"hello"', asked: '"hullo"' },
            { at: '/params/arguments/more', asked: '[]' },
          ],
        },
      },
    })
    expect(JSON.parse(lines[1]!).error.message).toBe(
      'wiretape mock: the recording has no prompts/list; it has tools/call',
    )
    expect(JSON.parse(lines[2]!)).toEqual({ jsonrpc: '2.0', id: 7, result: {} })
    expect(stderr.split('\n')).toHaveLength(3)
    expect(code).toBe(0)
    const quiet = await asked([tape, '--quiet'], call('5', 'echo'))
    expect(quiet.stderr).toBe('')
  })

  it("sends the server's recorded requests, waits for the response, and goes on after it", async () => {
    const tape = tapeOf(
      `> ${call('1', 'ask')}`,
      '< {"id":1,"method":"roots/list"}',
      '> {"id":1,"result":{"roots":[]}}',
      '< {"method":"notifications/message","params":{"level":"info","data":"thanks"}}',
      '< {"id":1,"result":{"done":true}}',
    )
    const mock = stage.start([process.execPath, cli, 'mock', tape])
    await mock.send(`${call('3', 'ask').replace('{', '{"jsonrpc":"2.0",')}\n`)
    await printed(mock, 'roots/list')
    await mock.send('{"jsonrpc":"2.0","id":4,"method":"ping"}\n')
    await printed(mock, '"id":4')
    expect(mock.stdout().toString()).not.toContain('thanks')
    await mock.send('{"jsonrpc":"2.0","id":1,"result":{"roots":["other"]}}\n')
    await printed(mock, '{"jsonrpc":"2.0","id":3,"result":{"done":true}}')
    expect(mock.stdout().toString()).toContain('thanks')
    mock.stdin.end()
    expect(await mock.ended).toEqual({ exitCode: 0, signal: null })
  })

  it('responds to a cancelled request only if the recorded server did', async () => {
    const cancel = (id: number): string => `{"method":"notifications/cancelled","params":{"requestId":${id}}}`
    const tape = tapeOf(
      `> ${call('1', 'slow')}`,
      `> ${cancel(1)}`,
      `> ${call('2', 'late')}`,
      `> ${cancel(2)}`,
      '< {"id":2,"result":{"late":true}}',
      `> ${call('3', 'quick')}`,
      '< {"id":3,"result":{"quick":true}}',
    )
    const run = await asked([tape], call('11', 'slow'), call('12', 'late'), call('13', 'quick'))
    expect(run.lines).toEqual(['{"jsonrpc":"2.0","id":13,"result":{"quick":true}}'])
    const cancelled = await asked(
      [tape],
      call('11', 'slow'),
      cancel(11),
      call('12', 'late'),
      call('13', 'quick'),
      cancel(12),
    )
    expect(cancelled.lines).toEqual([
      '{"jsonrpc":"2.0","id":13,"result":{"quick":true}}',
      '{"jsonrpc":"2.0","id":12,"result":{"late":true}}',
    ])
    expect(cancelled.stderr).toBe('')
  })

  it('does not treat a 2025 client that closed its POST as one that cancelled', async () => {
    const own =
      '"wiretape":{"version":"0","session":"s","transport":"sse","url":"http://x/sse","segment":0,"redaction":"none","metadata":{}}'
    const at = (us: number): string => `"t":"2026-08-01T10:00:00.00${us}Z","us":${us}000`
    const path = stage.path('left.jsonl')
    const lines = [
      meta.replace(/\}$/, `,${own}}`),
      `{${at(1)},"dir":"in","raw":{"jsonrpc":"2.0",${call('1', 'a').slice(1)},"id":"m1","seq":0,"conv":"c","http":{"exchange":1,"method":"POST","path":"/message"}}`,
      `{"type":"http",${at(2)},"exchange":1,"conv":"c","method":"POST","path":"/message","status":202,"why":"client: closed the connection"}`,
      `{${at(3)},"dir":"out","raw":{"jsonrpc":"2.0","id":1,"result":{}},"id":"m2","corr":"m1","seq":1,"conv":"c","http":{"exchange":0,"status":200}}`,
      end,
    ]
    writeFileSync(path, `${lines.join('\n')}\n`)
    const { lines: said } = await asked([path], call('2', 'a'))
    expect(said).toEqual(['{"jsonrpc":"2.0","id":2,"result":{}}'])
  })

  it('plays the recorded states of a task one after the other', async () => {
    const get = (id: number): string => `{"id":${id},"method":"tasks/get","params":{"taskId":"t-1"}}`
    const state = (id: number, status: string): string =>
      `{"id":${id},"result":{"taskId":"t-1","status":"${status}"}}`
    const start = call('1', 'work', '{}', ',"task":{"ttl":60}')
    const tape = tapeOf(
      `> ${start}`,
      '< {"id":1,"result":{"task":{"taskId":"t-1","status":"working"}}}',
      `> ${get(2)}`,
      `< ${state(2, 'working')}`,
      '< {"method":"notifications/tasks/status","params":{"taskId":"t-1","status":"completed"}}',
      `> ${get(3)}`,
      `< ${state(3, 'completed')}`,
    )
    const { lines } = await asked([tape], start, get(20), get(30))
    const said = lines.map((line) => JSON.parse(line))
    expect(said.map(({ result, params }) => (params ?? result.task ?? result).status)).toEqual([
      'working',
      'working',
      'completed',
      'completed',
    ])
  })

  it('waits as long as the recorded server did only with --pace recorded', async () => {
    const tape = tapeOf(`> ${call('1', 'a')}`, '< {"id":1,"result":{}}')
    const timed = async (...args: string[]): Promise<number> => {
      const began = performance.now()
      const { lines } = await asked([tape, ...args], call('1', 'a'))
      expect(lines).toHaveLength(1)
      return performance.now() - began
    }
    // A lower bound holds on the slowest machine.
    expect(await timed('--pace', 'recorded')).toBeGreaterThan(490)
  })

  it('names the differences of a call near a redacted one, or says that the redacted value does not match', async () => {
    const tokens = ['ghp_abcdefghijklmnopqrstuvwxyz0123456789', 'ghp_zyxwvutsrqponmlkjihgfedcba9876543210']
    const use = (text: string, again: string): string =>
      `{"jsonrpc":"2.0",${call('1', 'echo', `{"text":"${text}","again":"${again}","n":1}`).slice(1)}\n`
    const argv = stage.record(server('mini-mcp.mjs'))
    await wiretape(argv.slice(2), { input: use(`use ${tokens[0]}`, tokens[0]!) })
    const missOf = async (input: string): Promise<{ message: string; data: { nearest: object } }> => {
      const { stdout } = await wiretape(['mock', stage.tape()], { input })
      return JSON.parse(stdout).error
    }
    const other = await missOf(use('other', tokens[0]!).replace('"n":1', '"n":2'))
    expect(other.data.nearest).toMatchObject({
      differences: [
        { at: '/params/arguments/text', asked: '"other"' },
        { at: '/params/arguments/n', asked: '2' },
      ],
    })
    const unequal = await missOf(use(`use ${tokens[0]}`, tokens[1]!))
    expect(unequal.message).toMatch(/; the nearest call is #\d+: redacted values do not match$/)
    expect(unequal.data.nearest).toMatchObject({ redacted: true, differences: [] })
  })

  it('matches redacted values by their tag, and sends back values that it sent before', async () => {
    const token = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789'
    const other = 'ghp_zyxwvutsrqponmlkjihgfedcba9876543210'
    const steps = [token, other, token]
    const input = steps.map((text, i) =>
      `${call(String(i + 1), 'echo', `{"text":"${text}"}`)}\n`.replace('{', '{"jsonrpc":"2.0",'),
    )
    const argv = stage.record(server('mini-mcp.mjs'))
    await wiretape(argv.slice(2), { input: input.join('') })
    const tape = stage.tape()
    expect(readFileSync(tape, 'utf8')).not.toContain('ghp_')
    const { stdout } = await wiretape(['mock', tape], { input: input.join('') })
    const texts = stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line).result.content[0].text)
    expect(texts).toEqual(steps)
  })
})

describe('mock ends', () => {
  it('by a signal, though its client reads nothing', async () => {
    const text = 'x'.repeat(3_000_000)
    const tape = tapeOf(`> ${call('1', 'a')}`, `< {"id":1,"result":{"text":"${text}"}}`)
    const mock = stage.start([process.execPath, cli, 'mock', tape], { read: false })
    await mock.send(`${call('7', 'a').replace('{', '{"jsonrpc":"2.0",')}\n`)
    await new Promise((readable) => mock.output.once('readable', readable))
    mock.child.kill('SIGTERM')
    expect(await mock.ended).toEqual({ exitCode: 143, signal: null })
  })

  it('when its client reads no more', async () => {
    const tape = tapeOf(`> ${call('1', 'a')}`, `< {"id":1,"result":{"text":"${'x'.repeat(300_000)}"}}`)
    const mock = stage.start([process.execPath, cli, 'mock', '--repeat-last', tape], { read: false })
    for (let i = 0; i < 20; i += 1) void mock.send(`{"jsonrpc":"2.0",${call(String(i), 'a').slice(1)}\n`)
    await until(
      'it writes',
      () => mock.output.readableLength > 0 || mock.child.exitCode !== null || mock.output.readable,
    )
    mock.output.destroy()
    expect((await mock.ended).exitCode).toBe(0)
  })
})

describe('mock refuses', () => {
  it.each<[string, string[], RegExp]>([
    ['a recording without a client', ['< {"method":"notifications/x"}'], /has no client message/],
    ['a recording without a server', [`> ${call('1', 'a')}`], /has no server message/],
  ])('%s', async (_, messages, why) => {
    const { code, stdout, stderr } = await wiretape(['mock', tapeOf(...messages)])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(why)
    expect(stderr).toMatch(/^wiretape: [^\n]+\n$/)
  })

  it.each([
    [['nothing.jsonl'], 'cannot read nothing.jsonl: no such file'],
    [['-'], 'the client uses stdin, so the recording cannot be read from stdin'],
    [['x.jsonl', '--pace', 'slowly'], '--pace slowly is not a pace'],
    [['x.jsonl', '--listen', 'here'], '--listen here is not an address'],
    [['x.jsonl', '--transport', 'sse'], '--transport needs --listen'],
  ])('%j', async (args, why) => {
    tapeOf(`> ${call('1', 'a')}`, '< {"id":1,"result":{}}')
    const { code, stderr } = await wiretape([
      'mock',
      ...args.map((arg) => arg.replace('x.jsonl', stage.path('tape.jsonl'))),
    ])
    expect(code).toBe(2)
    expect(stderr).toMatch(/^wiretape: [^\n]+\n$/)
    expect(stderr).toContain(why)
  })
})
