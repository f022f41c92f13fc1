import { describe, expect, it } from 'vitest'
import { compileRules, Redactor } from '../../src/redaction/index.js'
import { readableTag, redacted, redactorOf, rulesFile } from './redacting.js'

async function pathRedacted(path: string, raw: string): Promise<string> {
  return redacted(raw, await redactorOf(rulesFile([{ name: 'rule', path }])))
}

describe('regex rules', () => {
  it('run on the decoded text of strings and names, and on lines, words, arguments and URLs', async () => {
    const redactor = await redactorOf({ patterns: ['CUST-[0-9]+'] })
    expect(redactor.name).toBe('rules')
    expect(redactor.json('{"a":"x CUST\\u002d12 y","CUST-3":[{"n":1,"password":"kept"}]}')).toEqual({
      raw: '{"a":"x [REDACTED] y","[REDACTED]":[{"n":1,"password":"kept"}]}',
      red: [
        { at: '/a', tag: 'tag of CUST-12' },
        { at: '/[REDACTED]', tag: 'tag of CUST-3' },
      ],
    })
    expect(redactor.line('CUST-1 password=x', 's')).toBe('[REDACTED] password=x')
    expect(redactor.text('CUST-1')).toBe('[REDACTED]')
    expect(redactor.command(['--id=CUST-1'])).toEqual(['--id=[REDACTED]'])
    expect(redactor.url('http://h/CUST-1')).toBe('http://h/[REDACTED]')
    expect(redactor.report()).toEqual([{ rule: '--redact #1', count: 6 }])
  })

  it('reach the handles of MCP, which the built-in rules leave', async () => {
    const { rules } = await compileRules({ patterns: ['xyz'] })
    const redactor = new Redactor({ defaults: true, rules, tag: readableTag })
    expect(redactor.name).toBe('defaults+rules')
    expect(redacted('{"params":{"progressToken":"xyz","cursor":"sk-abcdefghijklmnopqrst"}}', redactor)).toBe(
      '{"params":{"progressToken":"[REDACTED]","cursor":"sk-abcdefghijklmnopqrst"}}',
    )
  })

  it('ignore case when asked to', async () => {
    const redactor = await redactorOf(rulesFile([{ regex: 'acme', ignoreCase: true }]))
    expect(redacted('{"a":"ACME Acme"}', redactor)).toBe('{"a":"[REDACTED] [REDACTED]"}')
    expect(redactor.report()).toEqual([{ rule: 'rules[0]', count: 2 }])
  })

  it('pass over matches of nothing', async () => {
    const redactor = await redactorOf({ patterns: ['x*', '^', '\\b'] })
    expect(redacted('{"a":"axxb","":""}', redactor)).toBe('{"a":"a[REDACTED]b","":""}')
  })

  it('become one with what a built-in rule found beside them', async () => {
    const { rules } = await compileRules({ patterns: ['is sk-a'] })
    const redactor = new Redactor({ defaults: true, rules, tag: readableTag })
    expect(redactor.json('{"a":"it is sk-abcdefghijklmnopqrst."}')).toEqual({
      raw: '{"a":"it [REDACTED]."}',
      red: [{ at: '/a', tag: 'tag of is sk-abcdefghijklmnopqrst' }],
    })
  })
})

describe('path rules', () => {
  const raw =
    '{"params":{"id":7,"id":"x","list":[{"k":"a","v":1.0},{"k":"b","v":[2]},{"k":"c"}],"o":{"x":{"id":null}}}}'

  it.each([
    ['$.params.id', raw.replace('7', '"[REDACTED]"').replace('"x",', '"[REDACTED]",')],
    ["$['params']['list'][1].v", raw.replace('[2]', '"[REDACTED]"')],
    ['$.params.list[-1]', raw.replace('{"k":"c"}', '"[REDACTED]"')],
    ['$.params.list[0:2].k', raw.replace('"a"', '"[REDACTED]"').replace('"b"', '"[REDACTED]"')],
    ['$.params.list[::-2].k', raw.replace('"a"', '"[REDACTED]"').replace('"c"', '"[REDACTED]"')],
    [
      '$..id',
      raw.replace('7', '"[REDACTED]"').replace('"x",', '"[REDACTED]",').replace('null', '"[REDACTED]"'),
    ],
    ['$.params.list[?@.k=="a"].v', raw.replace('1.0', '"[REDACTED]"')],
    ['$.params.list[?@.v && @.k != "a"].v', raw.replace('[2]', '"[REDACTED]"')],
    ['$.params.list[?@.v < 2].v', raw.replace('1.0', '"[REDACTED]"')],
    ['$.params.list[?!@.v].k', raw.replace('"c"', '"[REDACTED]"')],
    ['$.params.list[?length(@.v) == 1].v', raw.replace('[2]', '"[REDACTED]"')],
    ['$.params.list[?count(@.*) == 1].k', raw.replace('"c"', '"[REDACTED]"')],
    [
      '$.params.list[?match(@.k, "[ab]")].k',
      raw.replace('"a"', '"[REDACTED]"').replace('"b"', '"[REDACTED]"'),
    ],
    ['$..[?search(@.k, "b|q")].v', raw.replace('[2]', '"[REDACTED]"')],
    ['$.params[?@.x == $.params.o.x]', raw.replace('{"x":{"id":null}}', '"[REDACTED]"')],
    ['$.params.list[?value(@.k) == "c"]', raw.replace('{"k":"c"}', '"[REDACTED]"')],
    ['$.nothing.here', raw],
    ['$', '"[REDACTED]"'],
  ])('%s', async (path, left) => {
    expect(await pathRedacted(path, raw)).toBe(left)
  })

  it('find what a later duplicate hides from a parser', async () => {
    expect(await pathRedacted('$.a.b', '{"a":{"b":1},"a":{},"\\u0061":{"b":2}}')).toBe(
      '{"a":{"b":"[REDACTED]"},"a":{},"\\u0061":{"b":"[REDACTED]"}}',
    )
  })

  it('are followed in each message of a batch', async () => {
    const redactor = await redactorOf(rulesFile([{ name: 'rule', path: '$.params.a' }]))
    expect(redactor.json('[{"params":{"a":1}},{"a":2},{"params":{"a":"x"}}]')).toEqual({
      raw: '[{"params":{"a":"[REDACTED]"}},{"a":2},{"params":{"a":"[REDACTED]"}}]',
      red: [
        { at: '/0/params/a', tag: 'tag of 1' },
        { at: '/2/params/a', tag: 'tag of x' },
      ],
    })
    expect(redactor.json('{"params":{"b":1}}')).toBeUndefined()
    expect(redactor.report()).toEqual([{ rule: 'rule', count: 2 }])
  })

  it('take the payload whole where they cannot be followed in linear time', async () => {
    const raw = `{"id":1,"params":{"a":[${Array(3000).fill('[1]').join(',')}]}}`
    const left = await pathRedacted(`$.params.a[?count(@[?${Array(150).fill('@==2').join('||')}])==9]`, raw)
    expect(left).toBe('{"id":1,"params":"[REDACTED]"}')
    const many = `[{"id":1,"result":[${'1,'.repeat(600_000)}1]},{"result":[{"a":1}]}]`
    expect(await pathRedacted('$.result[*].a', many)).toBe(
      '[{"id":1,"result":"[REDACTED]"},{"result":[{"a":"[REDACTED]"}]}]',
    )
  })
})

async function faults(text: string): Promise<string[]> {
  const { diagnostics } = await compileRules({ file: { name: 'r.json', text } })
  return diagnostics.map(({ message, at }) => `${at?.line}:${at?.column} ${message}`)
}

describe('compiling rules', () => {
  it('reports the fault of a bad pattern, its place and a remedy, without repeating the pattern', async () => {
    const { rules, diagnostics } = await compileRules({
      patterns: ['ok', 'hunter2(', 'a(?=b)', '', 'x{2000}'],
    })
    expect(rules).toHaveLength(1)
    expect(diagnostics.map(({ message }) => message)).toEqual([
      '--redact #2 is not a regular expression: missing closing ), column 9: use RE2 syntax, without lookaround and backreferences',
      '--redact #3 is not a regular expression: invalid or unsupported Perl syntax, column 2: use RE2 syntax, without lookaround and backreferences',
      '--redact #4 is empty: give a pattern',
      '--redact #5 is not a regular expression: invalid repeat count, column 2: use RE2 syntax, without lookaround and backreferences',
    ])
  })

  it.each([
    ['{"rules":[', '1:11 r.json is not JSON, unexpected end of text: correct the file there'],
    ['[]', '1:1 r.json is not an object: write {"rules": [{"regex": "…"}]}'],
    ['{"extends":"all"}', '1:12 r.json: extends must be "default" or null'],
    ['{"rules":{}}', '1:10 r.json: rules must be an array'],
    ['{"rulez":[]}', '1:2 r.json: "rulez" is unknown: use extends and rules'],
    ['{"rules":[1]}', '1:11 r.json: rules[0] is not an object: write {"regex": "…"} or {"path": "…"}'],
    [
      '{"rules":[\n {"regx":"a"}]}',
      '2:3 r.json: rules[0]."regx" is unknown: use name, path, regex, ignoreCase, type and pattern',
    ],
    [
      '{"rules":[{"type":"regex","regex":"a"}]}',
      '1:11 r.json: rules[0] is not a rule of mcp-tape: write {"type": "path", "path": "…"} or {"type": "regex", "pattern": "…"}',
    ],
    [
      '{"rules":[{"type":"regex","pattern":"(?=a)b"}]}',
      '1:37 r.json: rules[0].pattern is not a regular expression: invalid or unsupported Perl syntax, column 1: use RE2 syntax, without lookaround and backreferences',
    ],
    ['{"rules":[{"path":5}]}', '1:19 r.json: rules[0].path is not a string: put it in quotes'],
    ['{"rules":[{"name":"x"}]}', '1:11 r.json: rules[0] has neither path nor regex: use exactly one of them'],
    ['{"rules":[{"regex":"a","ignoreCase":1}]}', '1:37 r.json: rules[0].ignoreCase must be true or false'],
    ['{"rules":[{"regex":""}]}', '1:20 r.json: rules[0].regex is empty: give a value'],
    [
      '{"rules":[{"path":"$.a["}]}',
      '1:19 r.json: rules[0].path is incomplete, column 5: use a path such as $.params.arguments.name',
    ],
    [
      '{"rules":[{"path":"a.b"}]}',
      '1:19 r.json: rules[0].path is not a JSONPath (RFC 9535), column 1: did you mean $.a.b?',
    ],
    [
      '{"rules":[{"path":"$..*..*"}]}',
      '1:19 r.json: rules[0].path has more than one ..: split it into paths with one .. each',
    ],
    [
      '{"rules":[{"path":"$[?foo(@)]"}]}',
      '1:19 r.json: rules[0].path calls foo(), which does not exist: known functions: length, count, value, match, search',
    ],
    [
      '{"rules":[{"path":"$[?match(@.a,@.b)]"}]}',
      '1:19 r.json: rules[0].path calls match() with a pattern from the message: write the pattern into the path',
    ],
    [
      '{"rules":[{"path":"$[?match(@.a,\'(\')]"}]}',
      '1:19 r.json: rules[0].path has a pattern that is not a regular expression: missing closing ): use RE2 syntax, without lookaround and backreferences',
    ],
  ])('says where %j is wrong', async (text, message) => {
    expect(await faults(text)).toEqual([message])
  })

  it('takes the redact.json of mcp-tape, with the patterns that people copy from its defaults', async () => {
    const rules = [
      { type: 'path', path: '$.params.arguments.api_key' },
      { type: 'path', path: '$..customer-id' },
      { type: 'path', path: "$.params.list[*].it's" },
      { type: 'regex', pattern: 'MYCO-[A-Z0-9]{20}' },
      { type: 'regex', pattern: '(?<=://[^/\\s:@]{1,128}:)[^/\\s@]+(?=@)' },
      { type: 'regex', pattern: '(?<![^\\s"])[^\\s"]*\\.env(?:\\.[A-Za-z0-9._\\-]+)?\\b' },
      { type: 'regex', pattern: '(?<![^\\s"])[^\\s"]*\\bid_(?:rsa|ed25519|ecdsa|dsa)\\b[^\\s"]*' },
    ]
    const file = { name: 'redact.json', text: JSON.stringify({ extends: null, rules }) }
    expect((await compileRules({ file })).diagnostics).toEqual([])
    const redactor = await redactorOf({ file })
    const params = {
      arguments: { api_key: 'k', b: { 'customer-id': 7 } },
      list: [{ "it's": 1 }],
      texts: [
        `a MYCO-${'A'.repeat(20)}.`,
        'see https://me:pass@host/x',
        'cat /a/.env.local now',
        'k ~/.ssh/id_rsa.pub',
      ],
    }
    expect(JSON.parse(redacted(JSON.stringify({ params }), redactor))).toEqual({
      params: {
        arguments: { api_key: '[REDACTED]', b: { 'customer-id': '[REDACTED]' } },
        list: [{ "it's": '[REDACTED]' }],
        texts: ['a [REDACTED].', 'see https[REDACTED]host/x', 'cat [REDACTED] now', 'k [REDACTED]'],
      },
    })
  })

  it('accepts a byte order mark before the file', async () => {
    const { rules, diagnostics } = await compileRules({
      file: { name: 'r.json', text: '\ufeff{"rules":[{"regex":"a"}]}' },
    })
    expect(diagnostics).toEqual([])
    expect(rules).toHaveLength(1)
    expect(await faults('\ufeff[]')).toEqual([expect.stringMatching(/^1:1 /)])
  })

  it('limits the number and the length of rules', async () => {
    const many = JSON.stringify({ rules: Array.from({ length: 201 }, () => ({ regex: 'a' })) })
    expect(await faults(many)).toEqual([expect.stringContaining('rules has more than 200 elements')])
    expect(await faults(JSON.stringify({ rules: [{ regex: 'a'.repeat(2001) }] }))).toHaveLength(1)
    expect(await faults(JSON.stringify({ rules: [{ path: `$.${'a'.repeat(1000)}` }] }))).toHaveLength(1)
    expect(await faults(' '.repeat(1024 * 1024 + 1))).toHaveLength(1)
    expect((await compileRules({ patterns: Array<string>(201).fill('a') })).diagnostics).toHaveLength(1)
    const nested = `$[?${'('.repeat(400)}@.a${')'.repeat(400)}]`
    expect(await faults(JSON.stringify({ rules: [{ path: nested }] }))).toEqual([])
  })

  it('says whether the built-in rules apply', async () => {
    const defaultsOf = async (text: string): Promise<boolean> =>
      (await compileRules({ file: { name: 'r', text } })).defaults
    expect(await defaultsOf('{}')).toBe(true)
    expect(await defaultsOf('{"extends":"default"}')).toBe(true)
    expect(await defaultsOf('{"extends":null}')).toBe(false)
    expect((await compileRules({})).defaults).toBe(true)
  })
})
