import { writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { attach } from './attach.js'
import { answers, answerTo, call, isMessage, ping } from './mini-talk.js'
import { until } from './stage.js'
import { linesOfTape } from './tape-bytes.js'
import { count, useRules } from './rules-stage.js'

const { stage, record, end } = useRules()

describe('a rule', () => {
  it('delays and repeats in one', async () => {
    const recorder = record(`
      rules:
        - { name: twice, when: 'dir:in id:1', duplicate: 2 }
        - { name: later, when: 'dir:in id:1', delay: 50ms }`)
    await recorder.send(ping(1) + ping(2))
    expect((await count(recorder, 4)).map(({ id }) => Number(id))).toEqual([2, 1, 1, 1])
    const lines = await end(recorder)
    expect(
      lines.filter((line) => isMessage(line) && line['raw'].id === 1 && line['dir'] === 'in'),
    ).toMatchObject([
      { rule: 'twice, later', heldMs: expect.any(Number) },
      { rule: 'twice, later', injected: true },
      { rule: 'twice, later', injected: true },
    ])
  })

  it('that cannot be applied to a response sends an error instead, and the tape has both', async () => {
    const recorder = record(`
      rules:
        - { name: deep, when: 'tool:echo', on: answers, set: { '$.result.a.b': 1 } }
        - { name: roots, when: 'dir:in is:answer', remove: ['$.id'] }`)
    await recorder.send(call('e\u00e9', 'echo', { text: 'x' }))
    const problem = 'rule deep cannot be applied: $.result.a.b cannot be added to the message'
    expect(await answerTo(recorder, 'e\u00e9')).toEqual({
      jsonrpc: '2.0',
      id: 'e\u00e9',
      error: { code: -32603, message: `wiretape: ${problem}` },
    })
    // The other direction: requests of the server get responses, too.
    await recorder.send(call(2, 'ask'))
    const asked = await until('the server asks', () =>
      answers(recorder).find(({ method }) => method === 'roots/list'),
    )
    await recorder.send(`{"jsonrpc":"2.0","id":${asked['id']},"result":{"roots":[]}}\n`)
    const told = JSON.stringify(await answerTo(recorder, 2))
    expect(told).toContain('wiretape: rule roots cannot be applied: the message would no longer be JSON-RPC')
    const lines = await end(recorder)
    expect(lines.filter((line) => line['modified'])).toMatchObject([
      { dir: 'out', rule: 'deep', raw: { error: { code: -32603 } }, original: { result: {} } },
      { dir: 'in', rule: 'roots', raw: { error: { code: -32603 } }, original: { result: { roots: [] } } },
    ])
    expect(lines.filter(({ type }) => type === 'dropped')).toEqual([])
  })

  it('that cannot be applied to one response of a batch leaves the rest unchanged', async () => {
    const recorder = record(
      `rules: [{ name: deep, when: 'dir:in id:2.0', set: { '$.result.a.b': 1 } }]`,
      'echo-lines.mjs',
    )
    await recorder.send('[{"jsonrpc":"2.0","id":1,"result":1.0}, {"jsonrpc":"2.0","id":2.0,"result":{}}]\n')
    await count(recorder, 1)
    expect(recorder.stdout().toString()).toMatch(
      /^\[\{"jsonrpc":"2\.0","id":1,"result":1\.0\}, \{"jsonrpc":"2\.0","id":2\.0,"error":\{"code":-32603/,
    )
    recorder.stdin.end()
    await recorder.ended
  })

  it('reports messages that it could not look at', async () => {
    const recorder = record(`rules: [{ name: block, when: 'tool:echo', drop: true }]`)
    const screen = await attach(stage)
    const [before, after] = call(1, 'echo', { text: '@' }).split('@')
    await recorder.send(Buffer.concat([Buffer.from(before!), Buffer.of(0xff), Buffer.from(after!)]))
    expect(await answerTo(recorder, 1)).toHaveProperty('result')
    const { message } = await screen.event('it is told', ({ type }) => type === 'notice')
    expect(message).toBe(
      'a line was forwarded without being held or changed: text that is not UTF-8 cannot be inspected',
    )
    screen.close()
    expect((await end(recorder)).find(({ type }) => type === 'note')).toMatchObject({ text: message })
  })

  it('answers a part of a batch, and the rest goes on', async () => {
    const recorder = record(
      `
      rules:
        - { name: block, when: 'tool:echo', respond: { result: { is: 'ours' } } }
        - { name: later, when: 'method:ping', delay: 20ms }`,
      'echo-lines.mjs',
    )
    await recorder.send(`[${call(1, 'echo').trim()},${ping(2).trim()}]\n`)
    expect(await count(recorder, 2)).toEqual([
      { jsonrpc: '2.0', id: 1, result: { is: 'ours' } },
      [JSON.parse(ping(2))],
    ])
    recorder.stdin.end()
    await recorder.ended
  })

  it('disconnects both sides', async () => {
    const recorder = record(`
      rules:
        - { name: cut, when: 'tool:echo', disconnect: true }`)
    await recorder.send(call(1, 'echo'))
    expect(await recorder.ended).toMatchObject({ exitCode: 0 })
    expect(linesOfTape(stage.tape()).map(({ type }) => type as unknown)).toEqual([
      'meta',
      'held',
      'dropped',
      'end',
    ])
  })

  it('holds for a person, who sees the message as another rule changed it', async () => {
    const recorder = record(`
      rules:
        - name: swap
          when: 'tool:echo'
          set: { '$.params.arguments.text': 'MODIFIED' }
        - { name: look, when: 'tool:echo', hold: true }`)
    const screen = await attach(stage)
    await recorder.send(call(1, 'echo', { text: 'x' }))
    const held = await screen.held()
    expect(held).toMatchObject({ reason: 'rule', by: expect.stringContaining('look') })
    expect(JSON.parse(held['text'])).toMatchObject({ params: { arguments: { text: 'MODIFIED' } } })
    await screen.tell({ type: 'forward', message: held['message'] })
    expect(await count(recorder, 1)).toMatchObject([{ result: { content: [{ text: 'MODIFIED' }] } }])
  })

  it('of a file that became invalid: the end says that the previous rules stayed in force', async () => {
    const recorder = record(`rules: [{ name: r, when: 'tool:echo', drop: true }]`)
    await recorder.send(ping(1))
    await answerTo(recorder, 1)
    writeFileSync(stage.path('rules.yaml'), 'rules: [{ name: r, whenever: 1 }]')
    await until('it was read', () => linesOfTape(stage.tape()).some(({ type }) => type === 'note'))
    await end(recorder)
    expect(recorder.stderr().toString()).toMatch(
      /^wiretape: the previous rules stayed in force: .*rules\.yaml, line 1, column \d+: .*\(check the file with wiretape rules check\)\n$/,
    )
  })

  it('makes the same faults in every run of the same seed', async () => {
    const rules = `
      seed: 7
      rules:
        - { name: lost, when: 'dir:in', drop: true, probability: 0.5 }`
    const lost: unknown[][] = []
    for (let n = 0; n < 2; n += 1) {
      const recorder = record(rules)
      await recorder.send(Array.from({ length: 40 }, (_, id) => ping(id)).join(''))
      recorder.stdin.end()
      await recorder.ended
      lost.push(answers(recorder).map(({ id }) => id as unknown))
    }
    expect(lost[0]!.length).toBeGreaterThan(5)
    expect(lost[0]!.length).toBeLessThan(35)
    expect(lost[1]).toEqual(lost[0])
  })
})
