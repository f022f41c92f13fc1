import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { mock } from '../../src/index.js'
import { wiretape } from './run-cli.js'
import { cli, postHeaders, printed } from './stage.js'
import { asked, call, mini, opening, rpc, textOf, useRecordedMini } from './mock-fallback-stage.js'

const { stage, recorded, rules } = useRecordedMini()

describe('mock with a fallback', () => {
  it('sends every request to it with --record all, and its responses replace the recorded ones', async () => {
    const tape = await recorded(call(1, 'echo', { text: 'a' }), call(2, 'add', { a: 1, b: 2 }))
    // A recording of a server that cannot add.
    const wrong = stage.path('wrong.jsonl')
    writeFileSync(wrong, readFileSync(tape, 'utf8').replace('"text":"3"', '"text":"4"'))
    const copy = stage.path('copy.jsonl')
    const withServer = ['--fallback', '--record', 'all', '--out', copy, '--', ...mini]
    const { answers } = await asked([wrong, ...withServer], call(7, 'add', { a: 1, b: 2 }))
    expect(textOf(answers.get(7))).toBe('3')
    const played = await asked([copy], call(1, 'echo', { text: 'a' }), call(2, 'add', { a: 1, b: 2 }))
    expect([1, 2].map((id) => textOf(played.answers.get(id)))).toEqual(['a', '3'])
    expect((await wiretape(['inspect', '--check', copy])).stdout).toMatch(/no faults\n$/)
  })

  it('leaves the recorded conversation unchanged, with --record all, for a client with fewer capabilities', async () => {
    const tape = await recorded(call(1, 'echo', { text: 'a' }), call(2, 'add', { a: 1, b: 2 }))
    const abler = stage.path('abler.jsonl')
    const before = readFileSync(tape, 'utf8').replace('"text":"3"', '"text":"4"')
    writeFileSync(abler, before.replace('"capabilities":{}', '"capabilities":{"juggling":{}}'))
    const copy = stage.path('abler-copy.jsonl')
    const withServer = ['--fallback', '--record', 'all', '--out', copy, '--', ...mini]
    const { answers } = await asked([abler, ...withServer], call(7, 'add', { a: 1, b: 2 }))
    expect(textOf(answers.get(7))).toBe('3')
    const lines = readFileSync(copy, 'utf8').split('\n')
    const initialized = lines.filter((line) => line.includes('"method":"initialize"'))
    expect(initialized.map((line) => line.includes('juggling'))).toEqual([true, false])
    expect(lines.find((line) => line.includes('"text":"4"'))).not.toContain('"conv":"live-1"')
    expect(lines.find((line) => line.includes('"text":"3"'))).toContain('"conv":"live-1"')
    expect((await wiretape(['inspect', '--check', copy])).stdout).toMatch(/no faults\n$/)
  })

  it("passes on the real server's own requests, and the responses to them", async () => {
    const tape = await recorded(call(1, 'echo', { text: 'a' }))
    const talk = stage.start([process.execPath, cli, 'mock', tape, '--fallback', '--', ...mini])
    await talk.send(opening + call(1, 'ask'))
    await printed(talk, 'roots/list')
    const question = talk
      .stdout()
      .toString()
      .split('\n')
      .find((line) => line.includes('roots/list'))!
    await talk.send(rpc({ id: JSON.parse(question).id, result: { roots: ['r'] } }))
    await printed(talk, String.raw`{\"roots\":[\"r\"]}`)
    talk.stdin.end()
    expect(await talk.ended).toEqual({ exitCode: 0, signal: null })
  })

  it('responds with an error when the server cannot be started, and goes on', async () => {
    const tape = await recorded(call(1, 'echo', { text: 'a' }))
    const run = await asked(
      [tape, '--fallback', '--', '/no/such/program'],
      call(5, 'add', { a: 1, b: 1 }),
      call(6, 'echo', { text: 'a' }),
    )
    expect(run.answers.get(5)?.error.message).toMatch(
      /^wiretape mock: no response from the fallback: cannot start/,
    )
    expect(textOf(run.answers.get(6))).toBe('a')
    expect(run.stderr).toMatch(/^wiretape: no response from the fallback: cannot start [^\n]*\n$/)
    expect(run.code).toBe(0)
  })

  it('responds with an error when the server refuses the handshake, and sends it nothing more', async () => {
    const tape = await recorded(call(1, 'echo', { text: 'a' }))
    const error = { code: -32602, message: 'too old' }
    const refusing = `process.stdin.on('data', (line) => {
      const { id } = JSON.parse(line)
      process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, error: ${JSON.stringify(error)} }) + '\\n')
    })`
    const run = await asked(
      [tape, '--fallback', '--', process.execPath, '-e', refusing],
      call(5, 'add', { a: 1, b: 1 }),
    )
    const why = 'no response from the fallback: it refused initialize: error -32602: too old'
    expect(run.answers.get(5)?.error).toEqual({ code: -31404, message: `wiretape mock: ${why}` })
    expect({ code: run.code, stderr: run.stderr }).toEqual({ code: 0, stderr: `wiretape: ${why}\n` })
  })

  it('responds to recorded calls beside a server that does not respond to initialize, and ends', async () => {
    const tape = await recorded(call(1, 'echo', { text: 'a' }))
    const mute = [process.execPath, '-e', 'process.stdin.resume()']
    const one = stage.start([process.execPath, cli, 'mock', tape, '--fallback', '--', ...mute])
    await one.send(opening + call(5, 'add', { a: 1, b: 5 }) + call(6, 'echo', { text: 'a' }))
    await printed(one, '"id":6')
    one.child.kill('SIGTERM')
    expect(await one.ended).toEqual({ exitCode: 143, signal: null })
    const why = 'no response from the fallback: it has not responded to initialize'
    expect(one.stderr().toString()).toBe(`wiretape: ${why}\n`)
    expect(one.stdout().toString()).toContain(
      `"id":5,"error":{"code":-31404,"message":"wiretape mock: ${why}"}`,
    )
    expect(stage.running()).toEqual([])
  })

  it.each(['new', 'all'])('keeps no call without a response, with --record %s', async (what) => {
    const tape = await recorded(call(1, 'echo', { text: 'a' }))
    const copy = stage.path('copy.jsonl')
    const silent = `let rest = ''
    process.stdin.on('data', (data) => {
      const lines = (rest + data).split('\\n')
      rest = lines.pop()
      for (const { id, method } of lines.map((line) => JSON.parse(line)))
        if (method === 'initialize') process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: {} }) + '\\n')
    })`
    const server = ['--', process.execPath, '-e', silent]
    const run = await asked(
      [tape, '--fallback', '--record', what, '--out', copy, ...server],
      call(5, 'add', { a: 1, b: 1 }),
      call(6, 'echo', { text: 'a' }),
    )
    expect(run.code).toBe(0)
    const kept = readFileSync(copy, 'utf8')
    expect(kept).not.toContain('"name":"add"')
    expect(kept.match(/"name":"echo"/g)).toHaveLength(1)
    expect(kept).toContain('"text":"a"}]')
  })

  it.each<[string[], string]>([
    [['--fallback'], '--fallback needs the command of a server'],
    [['--', 'x'], 'the command x needs --fallback'],
    [['--record', 'new', '--out', 'f'], '--record needs a real server to record'],
    [['--fallback', '--record', 'new', '--', 'x'], '--record needs a file for the copy'],
    [['--fallback', '--out', 'f', '--', 'x'], '--out needs --record'],
  ])('refuses %j', async (args, why) => {
    const { code, stderr } = await wiretape(['mock', 'tape.jsonl', ...args])
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(why) })
    expect(stderr).toMatch(/^wiretape: [^\n]+\n$/)
  })
})

describe('mock that keeps a copy', () => {
  it('calls no server when the copy could not be written', async () => {
    const tape = await recorded(call(1, 'echo', { text: 'a' }))
    const options = ['--fallback', '--record', 'new', '--out', stage.folder, '--', ...mini]
    const run = await wiretape(['mock', tape, ...options], {
      input: opening + call(5, 'add', { a: 1, b: 1 }),
    })
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toMatch(/^wiretape: cannot write [^\n]* it is a folder\n$/)
  })
})

describe('mock with rules', () => {
  it('reports invalid rules in one line', async () => {
    const tape = await recorded(call(1, 'echo', { text: 'a' }))
    const { code, stderr } = await wiretape(['mock', tape, '--rules', rules('rules: 3')])
    expect(code).toBe(2)
    expect(stderr).toMatch(/^wiretape: [^\n]*rules\.yaml[^\n]*\n$/)
  })
})

describe('mock of a recording with messages that a person changed', () => {
  it('matches the messages that the client sent, and sends those that the client got', async () => {
    const rules = stage.path('rules.yaml')
    writeFileSync(
      rules,
      `
rules:
  - { name: more, when: 'tool:add', set: { '$.params.arguments.b': 10 } }
  - { name: lie, when: 'tool:echo', on: answers, set: { '$.result.content[0].text': lied } }
  - { name: block, when: 'tool:fail', respond: { error: { code: 1, message: blocked } } }
`,
    )
    const calls = [call(1, 'add', { a: 1, b: 2 }), call(2, 'echo', { text: 'a' }), call(3, 'fail')]
    const recorder = stage.start(stage.record(mini, ['--rules', rules]))
    await recorder.send(opening + calls.join(''))
    for (const sign of ['"text":"11"', 'lied', 'blocked']) await printed(recorder, sign)
    recorder.stdin.end()
    await recorder.ended
    const { answers } = await asked([stage.tape()], ...calls)
    expect(textOf(answers.get(1))).toBe('11')
    expect(textOf(answers.get(2))).toBe('lied')
    expect(answers.get(3)?.error).toEqual({ code: 1, message: 'blocked' })
  })
})

describe('mock() of the library', () => {
  it('over HTTP responds with an error to a message that a rule drops', async () => {
    const tape = await recorded(call(1, 'echo', { text: 'a' }))
    const rules = stage.path('rules.yaml')
    writeFileSync(rules, `rules: [{ name: lose, when: 'tool:echo', drop: true }]`)
    const served = await mock(tape, { rules })
    const opened = await fetch(served.url, {
      method: 'POST',
      body: opening.split('\n')[0]!,
      headers: postHeaders,
    })
    const session = opened.headers.get('mcp-session-id')!
    await opened.text()
    const response = await fetch(served.url, {
      method: 'POST',
      body: call(2, 'echo', { text: 'a' }),
      headers: { ...postHeaders, 'mcp-session-id': session },
    })
    expect(await response.json()).toEqual({
      jsonrpc: '2.0',
      id: 2,
      error: { code: -32603, message: 'wiretape: dropped by rule lose' },
    })
    await served.close()
  })
})
