import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { call, ping } from './mini-talk.js'
import { run } from './run-cli.js'
import { server } from './stage.js'
import { count, useRules } from './rules-stage.js'

const { stage, record, end } = useRules()

describe('a rule', () => {
  it('changes messages, and the tape has both versions and its name', async () => {
    const recorder = record(`
      rules:
        - name: swap
          when: 'method:tools/call'
          set: { '$.params.arguments.text': 'MODIFIED' }`)
    await recorder.send(ping(1) + call(2, 'echo', { text: 'x' }) + ping(3))
    expect((await count(recorder, 3))[1]).toMatchObject({
      id: 2,
      result: { content: [{ text: 'MODIFIED' }] },
    })
    const lines = await end(recorder)
    expect(lines.filter(({ type }) => type === 'held')).toEqual([])
    expect(lines.find((line) => line['modified'] === true)).toMatchObject({
      rule: 'swap',
      raw: { params: { arguments: { text: 'MODIFIED' } } },
      original: { params: { arguments: { text: 'x' } } },
    })
  })

  it('removes and replaces values, checks responses, and every other character stays', async () => {
    const recorder = record(`
      rules:
        - { name: a, when: 'tool:echo', remove: ['$.params.arguments.secret'] }
        - { name: b, when: 'tool:echo', replace: { pattern: 'h(.)llo', with: 'y$1llo' } }
        - { name: c, when: 'tool:echo', on: answers, set: { '$.result.more': 1.0 } }`)
    const raw = `{"id":1, "jsonrpc":"2.0","method":"tools/call","params":{"name":"echo","arguments":{"secret":"x" ,"text":"hello 1.0"}}}`
    await recorder.send(`${raw}\n${ping(2)}`)
    await count(recorder, 2)
    const [answer] = recorder.stdout().toString().split('\n')
    expect(answer).toContain('yello 1.0')
    expect(answer).toContain(',"more":1.0}')
    await end(recorder)
    const tape = readFileSync(stage.tape(), 'utf8')
    const changed = raw.replace('"secret":"x" ,', '').replace('hello', 'yello')
    expect(tape).toContain(`"raw":${changed},`)
    expect(tape).toContain('"rule":"a, b"')
    expect(tape).toContain('"rule":"c"')
  })

  it('that cannot be applied fails closed for that message, and says so to its sender and on the tape', async () => {
    const recorder = record(`
      rules:
        - { name: deep, when: 'tool:echo', set: { '$.params.arguments.a.b': 1 } }`)
    await recorder.send(call(1, 'echo') + call(2, 'echo', { a: {}, text: 'x' }) + ping(3))
    const all = await count(recorder, 3)
    const problem = 'rule deep cannot be applied: $.params.arguments.a.b cannot be added to the message'
    expect(all.find(({ id }) => id === 1)).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: { code: -32603, message: `wiretape: ${problem}` },
    })
    expect(all.filter(({ result }) => result !== undefined)).toHaveLength(2)
    const lines = await end(recorder)
    expect(lines.find(({ type }) => type === 'dropped')).toMatchObject({ rule: 'deep', why: problem })
    expect(lines.filter(({ type }) => type === 'dropped')).toHaveLength(1)
  })

  it('of an invalid file starts no server', async () => {
    writeFileSync(stage.path('rules.yaml'), 'rules: [{ name: r, whenever: 1 }]')
    const { code, stderr } = await run(stage.record(server('mini-mcp.mjs'), ['--rules', 'rules.yaml']), {
      cwd: stage.folder,
      env: stage.env,
    })
    expect(code).toBe(2)
    expect(stderr).toMatch(/^wiretape: .*rules\.yaml.*\n$/)
    expect(stage.tapes()).toEqual([])
  })
})
