import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseRules } from '../../../src/intercept/rules/parse-rules.js'
import { runs } from '../../long.js'
import { textsOf } from '../../random-text.js'

const files: Readonly<Record<string, string>> = {
  'good.json': '{\n  "error": {"code": -1,\n "message": "no"}\n}',
  'bad.json': '{"error": {',
  'empty.json': '{}',
  'redacted.json': '{"result": {"token": "[REDACTED]"}}',
}

function faultsOf(text: string): string[] {
  const { diagnostics } = parseRules(text, {
    readFile: (name) => (files[name] === undefined ? { problem: 'no such file' } : { text: files[name] }),
  })
  return diagnostics.map(({ at, message }) => `${at?.line}:${at?.column} ${message}`)
}

describe('a rules file', () => {
  it('may be YAML or JSON', () => {
    const yaml = `
seed: 7
rules:
  - name: swap-query
    when: 'method:tools/call tool:search'
    set: { '$.params.arguments.query': 'MODIFIED' }
  - name: block-secret
    when: 'method:tools/call tool:secret'
    respond: { error: { code: -1, message: 'blocked' } }
`
    const json = `{"seed":7,"rules":[{"name":"swap-query","when":"method:tools/call tool:search",
      "set":{"$.params.arguments.query":"MODIFIED"}},{"name":"block-secret","when":"tool:secret","respond":{"file":"good.json"}}]}`
    for (const text of [yaml, json, `\ufeff${yaml}`]) {
      expect(faultsOf(text)).toEqual([])
      const { seed, rules } = parseRules(text, { readFile: (name) => ({ text: files[name]! }) })
      expect(seed).toBe(7)
      expect(rules.map(({ name }) => name)).toEqual(['swap-query', 'block-secret'])
      expect(rules[1]?.action).toMatchObject({ kind: 'respond', member: 'error' })
    }
  })

  it('may have no rules', () => {
    expect(faultsOf('rules:')).toEqual([])
    expect(faultsOf('rules: []')).toEqual([])
  })

  it.each([
    ['', '1:1 expected `rules:` and a list of rules'],
    ['- a', '1:1 expected `rules:` and a list of rules'],
    ['seed: 1', '1:1 expected `rules:` and a list of rules'],
    ['rules: x', '1:8 rules: expected a list, with a `-` before each element'],
    [
      'rules: [',
      '1:9 is not valid YAML here: flow sequence in block collection must be sufficiently indented and end with a ]',
    ],
    ['a: 1\na: 2', '2:1 is not valid YAML here: map keys must be unique'],
    ['rules: []\n---\nrules: []', '2:1 a second document begins here: expected only one'],
    ['rule: []\nrules: []', '1:1 the file has "rule": did you mean rules?'],
    ['seed: x\nrules: []', '1:7 seed: expected an integer'],
    ['rules:\n  - x', '2:5 rule 1: expected name, when and an action'],
  ])('reports the place and what was expected: %j', (text, fault) => {
    expect(faultsOf(text)).toEqual([fault])
  })

  it.each([
    ['when: a, drop: true', '1:9 rule 1 has no name: add a name, which the tape uses for this rule'],
    ['name: a, drop: true', "1:9 rule 1 has no when: expected a filter, such as 'method:tools/call'"],
    [
      'name: a, when: a',
      '1:9 rule 1 has no action: expected one of hold, drop, delay, set, remove, replace, respond, duplicate, disconnect',
    ],
    [
      'name: a, when: a, drop: true, hold: true',
      '1:28 drop: the rule already has hold; a rule has one action',
    ],
    [
      'name: "a,b", when: a, drop: true',
      '1:16 name: expected a string of up to 60 characters without commas, in quotes if it is a number',
    ],
    [
      'name: 5, when: a, drop: true',
      '1:16 name: expected a string of up to 60 characters without commas, in quotes if it is a number',
    ],
    ['name: a, when: 5, drop: true', "1:25 when: expected a filter in quotes, such as 'method:tools/call'"],
    ['name: a, when: "x metod:y", drop: true', '1:28 when: unknown key metod: did you mean method?'],
    [
      'name: a, when: "\\x41 metod:y", drop: true',
      '1:25 when: in column 3 of the filter: unknown key metod: did you mean method?',
    ],
    ['name: a, when: a, dorp: true', '1:28 rule 1 has "dorp": did you mean drop?'],
    ['name: a, when: a, drop: yes', '1:34 drop: expected true'],
    ['name: a, when: a, drop:', '1:33 drop: expected true'],
    [
      'name: a, when: a, delay: soon',
      '1:35 delay: expected a duration or a range, such as 100ms..500ms, 500ms, 5s or 2m; a bare number is seconds',
    ],
    ['name: a, when: a, delay: 2s..1s', '1:35 delay: expected the shorter time first'],
    ['name: a, when: a, delay: 2h', '1:35 delay: expected at most one hour'],
    ...[
      ["set: { '$.params.token': '[REDACTED]' }", '1:53 set'],
      ["set: { '$.params': { a: ['x [REDACTED]'] } }", '1:47 set'],
      ["replace: { pattern: '(x)', with: '$1[REDACTED]' }", '1:61 replace'],
      ["respond: { result: { a: '[REDACTED]' } }", '1:47 respond: result'],
      ['respond: { file: redacted.json }', '1:45 respond: file redacted.json'],
    ].map(([action = '', where = '']) => [
      `name: a, when: a, ${action}`,
      `${where}: [REDACTED] replaces a secret on the tape and cannot be sent: give the real value`,
    ]),
    [
      'name: a, when: a, set: {}',
      "1:33 set: expected paths and values, such as { '$.params.arguments.query': 'x' }",
    ],
    [
      'name: a, when: a, set: { query: 1 }',
      "1:35 set: query is not a path: expected a path such as '$.params.arguments.query'",
    ],
    [
      "name: a, when: a, set: { '$.a[': 1 }",
      '1:40 the path $.a[ is incomplete: use a path such as $.params.arguments.name',
    ],
    ["name: a, when: a, set: { '$.a': .inf }", '1:42 JSON has no .inf'],
    ['name: a, when: a, remove: []', "1:36 remove: expected paths, such as ['$.params.arguments.token']"],
    [
      "name: a, when: a, replace: { pattern: 'a(', with: b }",
      '1:51 replace: the pattern is not a regular expression: missing closing ): use RE2 syntax, without lookaround and backreferences',
    ],
    ["name: a, when: a, replace: { pattern: 'a' }", '1:37 replace: expected `with` and a string in quotes'],
    [
      "name: a, when: a, replace: { pattern: 'a', with: '$1' }",
      '1:59 replace: with has $1, but the pattern has 0 groups',
    ],
    [
      "name: a, when: a, replace: { patern: 'a', with: '' }",
      '1:39 replace: unknown member "patern": did you mean pattern?',
    ],
    [
      'name: a, when: a, respond: {}',
      '1:37 respond: expected { result: … }, { error: { code: -1, message: … } } or { file: … }, only one of them',
    ],
    [
      'name: a, when: a, respond: { error: { code: 1 } }',
      '1:46 respond: error: expected an integer `code` and a string `message`',
    ],
    ['name: a, when: a, respond: { result: 5 }', '1:47 respond: result: expected an object, such as {}'],
    ['name: a, when: a, respond: { file: none.json }', '1:45 respond: file none.json: no such file'],
    [
      'name: a, when: a, respond: { file: bad.json }',
      '1:45 respond: file bad.json is not JSON: unexpected end of text at character 12',
    ],
    [
      'name: a, when: a, respond: { file: empty.json }',
      '1:45 respond: file empty.json has no response: expected {"result": …} or {"error": …}',
    ],
    [
      'name: a, when: a, duplicate: 0',
      '1:39 duplicate: expected true or the number of extra copies, 1 to 100',
    ],
    ['name: a, when: a, drop: true, times: 0', '1:47 times: expected an integer of 1 or more'],
    ['name: a, when: a, drop: true, every: 1.5', '1:47 every: expected an integer of 1 or more'],
    ['name: a, when: a, drop: true, probability: 2', '1:53 probability: expected a number from 0 to 1'],
    [
      'name: a, when: "tool:x (is:error)", drop: true',
      '1:25 when: can never match: tool is part of requests, the other conditions are about responses; add on: answers to the rule',
    ],
    ['name: a, when: "tool:x -is:error", on: answers, drop: true', ''],
    [
      'name: a, when: "tool:x", on: answers, respond: { result: {} }',
      '1:48 respond: only requests get a response; remove `on: answers`',
    ],
    ['name: a, when: "tool:x -is:error", drop: true', ''],
    [
      'name: a, when: a, drop: true, on: requests',
      '1:44 on: expected answers; leave out `on` to match requests and notifications',
    ],
  ])('reports the fault of a rule: %s', (rule, faults) => {
    expect(faultsOf(`rules: [{${rule}}]`).join('|')).toBe(faults)
  })

  it('reports all faults, in the order of the file', () => {
    const text = `
rules:
  - name: a
    when: 'is:nothing'
    drop: true
  - name: a
    when: ''
    delay: x
  - name: b
    when: 'latency:5'
    hold: true`
    expect(faultsOf(text).map((fault) => fault.split(' ')[0])).toEqual(['4:15', '8:12', '10:20'])
  })

  it('refuses names that are used twice, too many rules, aliases that blow up', () => {
    const one = (name: string): string => `{name: ${name}, when: '', drop: true}`
    expect(faultsOf(`rules: [${one('a')}, ${one('a')}]`)).toEqual([
      '1:49 name: a is already the name of another rule; use a unique name',
    ])
    expect(faultsOf(`rules: [${Array.from({ length: 201 }, (_, i) => one(`r${i}`)).join(', ')}]`)[0]).toMatch(
      /more than 200 rules/,
    )
    const bomb = Array.from(
      { length: 9 },
      (_, i) =>
        `&a${i} [${Array(10)
          .fill(i === 0 ? 'x' : `*a${i - 1}`)
          .join(', ')}]`,
    )
    const text = `rules:\n  - name: a\n    when: ''\n    set: { '$.params': [${bomb.join(', ')}] }`
    expect(faultsOf(text)[0]).toMatch(/the value has more than 100000 parts/)
  })

  it('never throws, and every fault has its place', () => {
    const words = [
      'rules:',
      '  ',
      '- ',
      'name: a',
      "when: ''",
      'drop: true',
      '&a ',
      '*a',
      '!!x ',
      '| ',
      '> ',
      '$.a',
      '---',
    ]
    fc.assert(
      fc.property(textsOf('\n{}[],:"\'#\t', words, { maxLength: 20 }), (text) => {
        for (const fault of faultsOf(text)) expect(fault).toMatch(/^\d+:\d+ ./)
      }),
      { numRuns: runs(300) },
    )
  })
})
