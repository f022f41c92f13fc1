import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { attach } from './attach.js'
import { call, isMessage, ping } from './mini-talk.js'
import { run } from './run-cli.js'
import { server, until } from './stage.js'
import { linesOfTape } from './tape-bytes.js'
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

  it('responds in place of the server', async () => {
    const recorder = record(`
      rules:
        - name: block
          when: 'tool:echo'
          respond: { error: { code: -1, message: 'blocked' } }`)
    await recorder.send(call(1, 'echo'))
    expect(await count(recorder, 1)).toEqual([
      { jsonrpc: '2.0', id: 1, error: { code: -1, message: 'blocked' } },
    ])
    const lines = await end(recorder)
    expect(lines.map(({ type, rule }) => [type, rule] as unknown)).toEqual([
      ['meta', undefined],
      ['held', 'block'],
      ['dropped', 'block'],
      [undefined, 'block'],
      ['end', undefined],
    ])
  })

  it('drops messages, and repeats them', async () => {
    const recorder = record(`
      rules:
        - { name: gone, when: 'dir:in id:1', drop: true }
        - { name: twice, when: 'dir:out id:2', duplicate: 1 }`)
    await recorder.send(ping(1) + ping(2) + ping(3))
    expect((await count(recorder, 3)).map(({ id }) => Number(id)).toSorted((a, b) => a - b)).toEqual([
      2, 2, 3,
    ])
    const lines = await end(recorder)
    expect(lines.find(({ type }) => type === 'dropped')).toMatchObject({ rule: 'gone' })
    expect(lines.filter((line) => isMessage(line) && line['raw'].id === 2)).toMatchObject([
      { dir: 'in' },
      { dir: 'out', rule: 'twice' },
      { dir: 'out', rule: 'twice', injected: true },
    ])
  })

  it('delays messages, while others overtake', async () => {
    const recorder = record(`
      rules:
        - { name: later, when: 'dir:in id:1', delay: 300ms }`)
    await recorder.send(ping(1) + ping(2))
    expect((await count(recorder, 2)).map(({ id }) => id as unknown)).toEqual([2, 1])
    const lines = await end(recorder)
    const late = lines.find((line) => isMessage(line) && line['rule'] === 'later')!
    expect(late['heldMs']).toBeGreaterThanOrEqual(290)
    expect(late).not.toHaveProperty('modified')
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

  it('follows changes of its file; an invalid file is not used, and screens are told', async () => {
    const rules = (text: string): string =>
      `rules: [{ name: r, when: 'tool:echo', respond: { result: { is: '${text}' } } }]`
    const recorder = record(rules('one'))
    const screen = await attach(stage)
    await recorder.send(call(1, 'echo'))
    expect(await count(recorder, 1)).toMatchObject([{ result: { is: 'one' } }])
    writeFileSync(stage.path('rules.yaml'), 'rules: [{ name: r, whenever: 1 }]')
    const notice = await screen.event('it is told', ({ type }) => type === 'notice')
    expect(notice['message']).toMatch(/rules\.yaml/)
    await screen.event(
      'the state has it',
      ({ type, state }) => type === 'state' && state.rules?.fault !== undefined,
    )
    await recorder.send(call(2, 'echo'))
    expect((await count(recorder, 2))[1]).toMatchObject({ result: { is: 'one' } })
    await screen.tell({ type: 'rules', file: null })
    await recorder.send(call(3, 'echo', { text: 'really' }))
    expect((await count(recorder, 3))[2]).toMatchObject({ result: { content: [{ text: 'really' }] } })
    const wrong = await screen.ask({ type: 'rules', file: stage.path('rules.yaml') })
    expect(wrong).toMatchObject({ ok: false, error: { code: 'file' } })
    writeFileSync(stage.path('rules.yaml'), rules('two'))
    await screen.tell({ type: 'rules', file: stage.path('rules.yaml') })
    const notes = await until('the tape says which rules were in force when', () => {
      const found = linesOfTape(stage.tape()).filter(({ type }) => type === 'note')
      return found.length === 3 ? found.map(({ text }) => text as string) : undefined
    })
    expect(notes[0]).toMatch(/^the previous rules stay in force: .*rules\.yaml, line 1/)
    expect(notes[1]).toBe('rules are off from here on')
    expect(notes[2]).toMatch(/^rules in force from here on: 1, from .*rules\.yaml$/)
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
