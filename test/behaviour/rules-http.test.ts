import { describe, expect, it } from 'vitest'
import { isLong } from '../long.js'
import { isMessage } from './http-stage.js'
import { until } from './stage.js'
import { call, post, useRulesOverHttp } from './rules-http-stage.js'

const { stage, recordEcho } = useRulesOverHttp()

const kinds = isLong ? (['json', 'events'] as const) : (['events'] as const)

describe.each(kinds)('over HTTP, with responses as %s, a rule', (as) => {
  it('removes and replaces values, in requests and responses, and every other character stays', async () => {
    const { upstream, recorder, url } = await recordEcho(
      as,
      `rules:
        - { name: a, when: 'tool:echo', remove: ['$.params.arguments.secret'] }
        - { name: b, when: 'tool:echo', replace: { pattern: 'h(.)llo', with: 'y$1llo' } }
        - { name: c, when: 'tool:echo', on: answers, set: { '$.result.more': 1.0 } }`,
    )
    const got = await post(url, call(1, '{"secret":"x" ,"text":"hello", "n":1.50}'))
    expect(upstream.bodies).toEqual([call(1, '{"text":"yello", "n":1.50}')])
    expect(got).toContain(',"more":1.0}')
    const lines = (await stage.end(recorder)).filter((line) => isMessage(line) && line['rule'])
    expect(lines.map(({ rule, modified }) => [rule, modified] as unknown)).toEqual([
      ['a, b', true],
      ['c', true],
    ])
  })

  it('repeats a request, also a delayed one', async () => {
    const { upstream, recorder, url } = await recordEcho(
      as,
      `rules:
        - { name: twice, when: 'is:request', duplicate: true }
        - { name: later, when: 'id:2 is:request', delay: 20ms }`,
    )
    await post(url, call(1, '{}'))
    await post(url, call(2, '{}'))
    await until('both came twice', () => (upstream.bodies.length === 4 ? true : undefined))
    const lines = await stage.end(recorder)
    expect(lines.filter((line) => isMessage(line) && line['dir'] === 'in' && line['injected'])).toMatchObject(
      [{ rule: 'twice' }, { rule: 'twice, later' }],
    )
  })

  it('cuts the exchange off', async () => {
    const { upstream, recorder, url } = await recordEcho(
      as,
      `rules:
        - { name: in, when: 'id:1 is:request', disconnect: true }
        - { name: out, when: 'id:2 is:answer', disconnect: true }`,
    )
    await expect(post(url, call(1, '{}'))).rejects.toBeInstanceOf(TypeError)
    await expect(post(url, call(2, '{}'))).rejects.toBeInstanceOf(TypeError)
    expect(await post(url, call(3, '{}'))).toContain('"id":3')
    expect(upstream.bodies).toHaveLength(2)
    const lines = await stage.end(recorder)
    expect(lines.filter(({ type }) => type === 'dropped')).toMatchObject([{ rule: 'in' }, { rule: 'out' }])
  })

  it('that cannot be applied fails closed for that message, and says so to its sender and on the tape', async () => {
    const { upstream, recorder, url } = await recordEcho(
      as,
      `rules: [{ name: deep, when: 'is:request', set: { '$.params.arguments.a.b': 1 } }]`,
    )
    const problem = 'rule deep cannot be applied: $.params.arguments.a.b cannot be added to the message'
    expect(JSON.parse(await post(url, call(1, '{}')))).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: { code: -32603, message: `wiretape: ${problem}` },
    })
    expect(await post(url, call(2, '{"a":{}}'))).toContain('"a":{"b":1}')
    expect(upstream.bodies).toHaveLength(1)
    const lines = await stage.end(recorder)
    expect(lines.find(({ type }) => type === 'dropped')).toMatchObject({ rule: 'deep', why: problem })
  })
})
