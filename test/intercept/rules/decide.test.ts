import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { callText, decide, frameOf, rulesOf } from './deciding.js'

const call = callText('search', '{"query": "old \\u00e9", "n":12345678901234567890,"list":[1, 2 ,3]}')

describe('a rule', () => {
  it('leaves alone what its filter does not match', () => {
    const rules = rulesOf(`rules: [{ name: a, when: 'tool:other', drop: true }]`)
    expect(rules.decide(frameOf(call))).toBeUndefined()
  })

  it.each<[string, Record<string, unknown>]>([
    ['hold: true', { verdict: 'hold' }],
    ['drop: true', { verdict: 'drop' }],
    ['disconnect: true', { verdict: 'disconnect' }],
    ['delay: 500ms', { verdict: 'forward', delayMs: 500 }],
    ['delay: 1.5', { verdict: 'forward', delayMs: 1500 }],
    ['duplicate: true', { verdict: 'forward', copies: 1 }],
    ['duplicate: 3', { verdict: 'forward', copies: 3 }],
    [
      `respond: { error: { code: -1, message: 'blocked' } }`,
      {
        verdict: 'drop',
        answers: ['{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"blocked"}}'],
      },
    ],
    [
      `respond: { result: { content: [], big: 12345678901234567890, f: 1.0 } }`,
      {
        verdict: 'drop',
        answers: ['{"jsonrpc":"2.0","id":7,"result":{"content":[],"big":12345678901234567890,"f":1.0}}'],
      },
    ],
  ])('%s', (action, expected) => {
    expect(decide(action, call)).toEqual({ rule: 'r', delayMs: 0, copies: 0, answers: [], ...expected })
  })

  it.each([
    ["set: { '$.params.arguments.query': 'new' }", '"query": "old \\u00e9"', '"query": "new"'],
    ["set: { '$.params.arguments.n': 1.0 }", '12345678901234567890', '1.0'],
    ["set: { '$.params.arguments.n': null }", '12345678901234567890', 'null'],
    ["set: { '$.params.arguments.n': { a: [1, yes] } }", '12345678901234567890', '{"a":[1,"yes"]}'],
    ["set: { '$.params.arguments.more': true }", ' ,3]}', ' ,3],"more":true}'],
    ["set: { '$.params._meta': {}, '$.params._meta.x': 1 }", '3]}}', '3]},"_meta":{"x":1}}'],
    ["set: { '$.params.arguments.list[*]': 0 }", '[1, 2 ,3]', '[0, 0 ,0]'],
    ["set: { '$.params.arguments.list[-1]': 0 }", '[1, 2 ,3]', '[1, 2 ,0]'],
    ["remove: ['$.params.arguments.query']", '{"query": "old \\u00e9", ', '{'],
    ["remove: '$.params.arguments.n'", ', "n":12345678901234567890', ''],
    ["remove: ['$.params.arguments.list']", ',"list":[1, 2 ,3]', ''],
    [
      "remove: ['$.params.arguments.*']",
      '{"query": "old \\u00e9", "n":12345678901234567890,"list":[1, 2 ,3]}',
      '{}',
    ],
    ["remove: ['$.params.arguments.list[0]']", '[1, 2 ,3]', '[2 ,3]'],
    ["remove: ['$.params.arguments.list[0,2]']", '[1, 2 ,3]', '[2]'],
    ["remove: ['$.params.arguments.list[1:]']", '[1, 2 ,3]', '[1]'],
    ["replace: { pattern: 'o(l)d', with: '<$1$0$$>' }", '"old \\u00e9"', '"<lold$> é"'],
    ["replace: { pattern: '(?P<x>L)', ignoreCase: true, with: '${x}!' }", '"old \\u00e9"', '"ol!d é"'],
    ["replace: { pattern: 'é', with: 'e', in: '$.params.arguments.query' }", 'old \\u00e9', 'old e'],
    ["replace: { pattern: '^search$', with: 'find' }", '"name":"search"', '"name":"find"'],
  ])('%s changes that and no other character', (action, before, after) => {
    const rawCall = call.replace(', "n"', ', "n"')
    expect(rawCall.split(before)).toHaveLength(2)
    expect(decide(action, rawCall)?.text).toBe(rawCall.replace(before, () => after))
  })

  it.each([
    ["remove: ['$.params.nothing']"],
    ["replace: { pattern: 'nowhere', with: '' }"],
    ["set: { '$.params.name': 'search' }"],
  ])('%s, where there is nothing to do, is not applied', (action) => {
    expect(decide(action, call)).toBeUndefined()
  })

  it('does not replace names of members, nor what stands outside of the payload', () => {
    expect(decide("replace: { pattern: 'query|tools/call|2.0', with: 'x' }", call)).toBeUndefined()
  })

  it.each([
    ["set: { '$.params.nothing.deep': 1 }", '$.params.nothing.deep cannot be added to the message'],
    ["set: { '$..nothing': 1 }", '$..nothing cannot be added to the message'],
    ["remove: ['$']", '$ is the whole message'],
  ])('%s, which cannot be applied, fails closed with an error that gives the reason', (action, problem) => {
    const decision = decide(action, call)
    expect(decision).toMatchObject({
      rule: 'r',
      verdict: 'drop',
      why: `rule r cannot be applied: ${problem}`,
    })
    expect(JSON.parse(decision!.answers[0]!)).toEqual({
      jsonrpc: '2.0',
      id: 7,
      error: { code: -32603, message: `wiretape: rule r cannot be applied: ${problem}` },
    })
  })

  it('drops a notification that it cannot be applied to, since no sender waits for a response', () => {
    const decision = decide(
      'respond: { result: {} }',
      '{"jsonrpc":"2.0","method":"notifications/initialized"}',
    )
    expect(decision).toMatchObject({
      verdict: 'drop',
      answers: [],
      why: expect.stringContaining('not a request'),
    })
  })

  it('leaves an error in the place of an answer that it cannot be applied to, under the id as it was written', () => {
    for (const id of ['12345678901234567890', '"a\\u0062"', '1.50']) {
      const decision = decide(
        "set: { '$.result.no.where': 1 }",
        `{"result":{"secret":1},"id" : ${id}, "jsonrpc":"2.0"}`,
      )
      const problem = 'rule r cannot be applied: $.result.no.where cannot be added to the message'
      expect(decision).toEqual({
        rule: 'r',
        verdict: 'forward',
        text: `{"jsonrpc":"2.0","id":${id},"error":{"code":-32603,"message":"wiretape: ${problem}"}}`,
        delayMs: 0,
        copies: 0,
        answers: [],
        why: problem,
      })
    }
  })

  it('leaves an error in the place of an answer that it would make something else', () => {
    for (const action of ["remove: ['$.id']", "set: { '$.jsonrpc': 3 }", 'respond: { result: {} }']) {
      const decision = decide(action, '{"jsonrpc":"2.0","id":7,"result":{}}')
      expect(decision).toMatchObject({ verdict: 'forward', why: expect.stringContaining('rule r') })
      expect(JSON.parse(decision!.text!)).toMatchObject({ id: 7, error: { code: -32603 } })
    }
  })

  it('asks no rule behind one that could not be applied', () => {
    const rules = rulesOf(`
      rules:
        - { name: a, when: 'is:answer', set: { '$.result.no.where': 1 } }
        - { name: b, when: 'is:answer', set: { '$.error.code': 1 } }`)
    const decision = rules.decide(frameOf('{"jsonrpc":"2.0","id":7,"result":{}}'))
    expect(decision?.rule).toBe('a')
    expect(decision?.text).toContain('-32603')
  })

  it('fails closed when its filter cannot be told in linear time', () => {
    const rules = rulesOf(`rules: [{ name: a, when: '$.params.arguments[*]=2', drop: true, times: 1 }]`)
    const decision = rules.decide(frameOf(callText('x', `[${'1,'.repeat(600_000)}1]`)))
    expect(decision).toMatchObject({
      verdict: 'drop',
      why: expect.stringContaining('takes too long to evaluate'),
    })
    expect(rules.decide(frameOf(call))).toBeUndefined()
  })

  it('keeps an id exactly in the answer it makes', () => {
    for (const id of ['12345678901234567890', '"a\\u0062"', '1.50'])
      expect(decide('respond: { result: {} }', callText('x', '{}', id))?.answers).toEqual([
        `{"jsonrpc":"2.0","id":${id},"result":{}}`,
      ])
  })
})

it('repeats a large message as often as 16 MB hold, but once', () => {
  const of = (sizeBytes: number): unknown =>
    decide('duplicate: 100', callText('x', `{"t":"${'x'.repeat(sizeBytes)}"}`))?.copies
  expect([of(1_000), of(5 * 1024 * 1024), of(20 * 1024 * 1024)]).toEqual([100, 3, 1])
})

describe('several rules', () => {
  it('are applied in their order, each to what those before made, until one decides', () => {
    const rules = rulesOf(`
rules:
  - { name: a, when: '', set: { '$.params.arguments.query': 'one' } }
  - { name: b, when: 'tool:search', replace: { pattern: one, with: two } }
  - { name: c, when: '', delay: 100ms }
  - { name: d, when: '', delay: 100ms }
  - { name: e, when: '', hold: true }
  - { name: f, when: '', drop: true }`)
    expect(rules.decide(frameOf(call))).toEqual({
      rule: 'a, b, c, d, e',
      verdict: 'hold',
      text: call.replace('"old \\u00e9"', '"two"'),
      delayMs: 200,
      copies: 0,
      answers: [],
    })
  })
})

describe('on: answers', () => {
  const answer = '{"jsonrpc":"2.0","id":7,"result":{"content":[]}}'
  const request = { method: 'tools/call', name: 'search' }

  it('looks at answers only, by the names of their requests', () => {
    const rules = rulesOf(`rules: [{ name: a, when: 'tool:search', on: answers, drop: true }]`)
    expect(rules.decide(frameOf(call))).toBeUndefined()
    expect(rules.decide(frameOf(answer, { ...request, name: 'x' }))).toBeUndefined()
    expect(rules.decide(frameOf(answer, request))?.verdict).toBe('drop')
  })

  it('is needed for that: without it a name is that of the message itself', () => {
    const rules = rulesOf(`
rules:
  - { name: a, when: 'tool:search', times: 1, duplicate: true }
  - { name: b, when: 'is:answer', delay: 1s }`)
    expect(rules.decide(frameOf(answer, request))?.rule).toBe('b')
    expect(rules.decide(frameOf(call))?.rule).toBe('a')
  })
})

describe('how often', () => {
  function fired(more: string, messages = 12): number[] {
    const rules = rulesOf(`seed: 7\nrules: [{ name: a, when: 'tool:search', drop: true, ${more} }]`)
    const found: number[] = []
    for (let i = 1; i <= messages; i += 1) {
      rules.decide(frameOf(callText('other')))
      if (rules.decide(frameOf(call))) found.push(i)
    }
    return found
  }

  it('counts only messages that the rule is about', () => {
    expect(fired('times: 2')).toEqual([1, 2])
    expect(fired('every: 4')).toEqual([4, 8, 12])
    expect(fired('every: 4, times: 2')).toEqual([4, 8])
    expect(fired('probability: 0')).toEqual([])
    expect(fired('probability: 1').length).toBe(12)
  })

  it('fires about as often as the probability says', () => {
    const share = fired('probability: 0.3', 2000).length / 2000
    expect(share).toBeGreaterThan(0.25)
    expect(share).toBeLessThan(0.35)
  })

  it('fires at the same messages with the same seed, at others with another one, whatever other rules there are', () => {
    const run = (seed: number, others: string): string => {
      const rules = rulesOf(
        `seed: ${seed}\nrules: [${others}{ name: a, when: '', probability: 0.5, delay: 10ms..1s }]`,
      )
      return Array.from({ length: 64 }, () => rules.decide(frameOf(call))?.delayMs ?? 0).join(' ')
    }
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        expect(run(seed, '')).toBe(run(seed, ''))
        const other = run(seed, `{ name: z, when: 'tool:x', drop: true, probability: 0.5 }, `)
        expect(other).toBe(run(seed, ''))
        expect(run(seed + 1, '')).not.toBe(run(seed, ''))
      }),
      { numRuns: 20 },
    )
  })

  it('goes on counting when the same rule is read again', () => {
    const yaml = `rules: [{ name: a, when: '', drop: true, times: 1 }]`
    const first = rulesOf(yaml)
    expect(first.decide(frameOf(call))).toBeDefined()
    expect(rulesOf(yaml, first).decide(frameOf(call))).toBeUndefined()
    expect(rulesOf(yaml.replace('times: 1', 'times: 2'), first).decide(frameOf(call))).toBeDefined()
  })
})

describe('a batch', () => {
  const batch = `[ ${callText('a', '{}', '1')} ,${callText('b', '{}', '2')}, {"jsonrpc":"2.0","method":"x"}]`

  it('is changed in place', () => {
    const rules = rulesOf(`rules: [{ name: r, when: 'tool:b', set: { '$.params.arguments.x': 1 } }]`)
    expect(rules.decide(frameOf(batch))?.text).toBe(
      batch.replace('"b","arguments":{}', '"b","arguments":{"x":1}'),
    )
  })

  it('goes on without what is dropped or answered', () => {
    const rules = rulesOf(`
rules:
  - { name: r, when: 'tool:b', respond: { result: {} } }
  - { name: s, when: 'method:x', drop: true }`)
    expect(rules.decide(frameOf(batch))).toMatchObject({
      rule: 'r, s',
      verdict: 'forward',
      text: `[${callText('a', '{}', '1')}]`,
      answers: ['{"jsonrpc":"2.0","id":2,"result":{}}'],
    })
  })

  it('keeps its other answers as they are where a rule cannot be applied to one', () => {
    const answers = '[ {"jsonrpc":"2.0","id":1,"result":{}} ,{"jsonrpc":"2.0", "id":2.0,"result":{}}]'
    const rules = rulesOf(`rules: [{ name: r, when: 'id:2.0', set: { '$.result.no.where': 1 } }]`)
    const text = rules.decide(frameOf(answers))?.text
    expect(text).toMatch(
      /^\[ \{"jsonrpc":"2\.0","id":1,"result":\{\}\} ,\{"jsonrpc":"2\.0","id":2\.0,"error":/,
    )
    expect(JSON.parse(text!)).toHaveLength(2)
  })

  it('goes on without a message that nobody can send on, whose sender is told why and by which rule', () => {
    const rules = rulesOf(`
      rules:
        - { name: first, when: 'tool:a', set: { '$.params.arguments.x': 1 } }
        - { name: second, when: 'tool:b', set: { '$.id': 9 } }`)
    const decision = rules.decide({
      ...frameOf(batch),
      refusal: (_, text) => (text.includes('"id":9') ? 'it is taken' : undefined),
    })
    const problem = 'rule second cannot be applied: it is taken'
    expect(decision).toMatchObject({ rule: 'first, second', verdict: 'forward', kept: [0, 2], why: problem })
    expect(decision?.answers).toEqual([
      `{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"wiretape: ${problem}"}}`,
    ])
  })

  it('goes nowhere when nothing of it is left', () => {
    expect(rulesOf(`rules: [{ name: r, when: '', drop: true }]`).decide(frameOf(batch))?.verdict).toBe('drop')
  })
})

describe('changes', () => {
  const json = fc.json({ maxDepth: 4 }).map((text) => text.replaceAll(',', ' , '))
  const message = json.map((value) => `{"jsonrpc":"2.0","id":1,"method":"m","params":${value}}`)
  const path = fc.constantFrom(
    '$.params',
    '$.params.*',
    '$.params..*',
    '$.params[0]',
    '$.params[1:]',
    '$.params..[0]',
    '$.params..a',
    '$.params[?(@ != 1)]',
  )

  it('leave JSON, and what they did not change as it was', () => {
    fc.assert(
      fc.property(message, path, fc.constantFrom('set', 'remove', 'replace'), (text, at, kind) => {
        const action = {
          set: `set: { '${at}': { new: [1.0] } }`,
          remove: `remove: ['${at}']`,
          replace: `replace: { pattern: '[a-m]', with: '"$0\\', in: '${at}' }`,
        }[kind]
        const after = decide(action, text)?.text ?? text
        const value = JSON.parse(after) as Record<string, unknown>
        expect([value['jsonrpc'], value['id'], value['method']]).toEqual(['2.0', 1, 'm'])
        if (kind === 'remove' && at === '$.params') expect(value).not.toHaveProperty('params')
        expect(decide(action, text)?.why ?? 'cannot be added').toContain('cannot be added')
      }),
      { numRuns: 200 },
    )
  })
})
