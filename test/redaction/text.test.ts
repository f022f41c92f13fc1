import { describe, expect, it } from 'vitest'
import { defaultRedactor, redactedString } from './redacting.js'

const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl'

describe('redacting lines', () => {
  it.each([
    ['password=hunter2 ok', 'password=[REDACTED] ok'],
    ['login with password: hunter2, as me', 'login with password: [REDACTED], as me'],
    ['db.password = "a b" next', 'db.password = "[REDACTED]" next'],
    ["{'token': 'x', 'n': 1}", "{'token': '[REDACTED]', 'n': 1}"],
    ['{"\\u0070assword":"x","a":1', '{"\\u0070assword":"[REDACTED]","a":1'],
    ['{"password":"cut off', '{"password":"[REDACTED]'],
    ['{"token":1,"secret":{"a":1},"b":2', '{"token":1,"secret":[REDACTED]'],
    ['config: secrets: [a, b]', 'config: secrets: [REDACTED]'],
    ['API key: abc, done', 'API key: [REDACTED], done'],
    ['PIN password=1234', 'PIN password=[REDACTED]'],
    ['Authorization: Bearer abc next', 'Authorization: Bearer [REDACTED] next'],
    ['authorization=Digest username="u", response="r"', 'authorization=Digest [REDACTED]'],
    ['POST user[password]=x&user[name]=y', 'POST user[password]=[REDACTED]&user[name]=y'],
    [`got ${jwt}`, 'got [REDACTED]'],
    ['token => x', 'token => [REDACTED]'],
    [`password${' '.repeat(60)}: hunter2`, `password${' '.repeat(60)}: [REDACTED]`],
    ['Authorization: Bearer\tabc next', 'Authorization: Bearer\t[REDACTED] next'],
    ['Authorization: Bearer "a b" next', 'Authorization: Bearer "[REDACTED]" next'],
    ['Authorization: Bearer%20abc next', 'Authorization: Bearer%20[REDACTED] next'],
    ['login --password X --user me', 'login --password [REDACTED] --user me'],
    ["mysql -password 'X Y' db", "mysql -password '[REDACTED]' db"],
    ['login --password=X', 'login --password=[REDACTED]'],
    ['args: ["--password","x\\"y", "z"]', 'args: ["--password","[REDACTED]", "z"]'],
    ['"[\\"--token\\", \\"x\\"]"', '"[\\"--token\\", \\"[REDACTED]\\"]"'],
    [
      '\u001b[33mtoken\u001b[0m=\u001b[33mX\u001b[0m ok',
      '\u001b[33mtoken\u001b[0m=\u001b[33m[REDACTED]\u001b[0m ok',
    ],
    [
      '{\\u0022password\\u0022: \\u0022x\\\\\\u0022y\\u0022}',
      '{\\u0022password\\u0022: \\u0022[REDACTED]\\u0022}',
    ],
  ])('redacts named values and values that look like secrets in %j', (line, left) => {
    expect(defaultRedactor().line(line, 'stderr')).toBe(left)
  })

  it.each([
    'Server listening on http://localhost:8080/mcp',
    'progressToken: 5, cursor=abc',
    'token: null',
    'used tokens, no assignment',
    'max_new_tokens: 5, remaining_tokens: 7',
    'run --no-password file --token-file x --max-tokens 5',
    'WWW-Authenticate: Bearer resource_metadata="https://x/y", scope="a"',
    'password=',
    'password=[REDACTED]',
    '',
  ])('answers nothing for %j', (line) => {
    expect(defaultRedactor().line(line, 'stderr')).toBeUndefined()
  })

  it('replaces every line of a private key, by channel', () => {
    const redactor = defaultRedactor()
    expect(redactor.line('key: -----BEGIN PRIVATE KEY-----', 'a')).toBe('key: [REDACTED]')
    expect(redactor.line('MIIE', 'a')).toBe('[REDACTED]')
    expect(redactor.line('MIIE', 'b')).toBeUndefined()
    expect(redactor.line('', 'a')).toBe('[REDACTED]')
    expect(redactor.line('abc -----END PRIVATE KEY----- password=x', 'a')).toBe(
      '[REDACTED] password=[REDACTED]',
    )
    expect(redactor.line('MIIE', 'a')).toBeUndefined()
    const whole = '-----BEGIN PRIVATE KEY----- MIIE -----END PRIVATE KEY-----'
    expect(redactor.line(`${whole} ok`, 'a')).toBe('[REDACTED] ok')
    expect(redactor.line('MIIE', 'a')).toBeUndefined()
  })

  it('takes a private key that does not end for over after 500 lines', () => {
    const redactor = defaultRedactor()
    redactor.line('-----BEGIN PRIVATE KEY-----', 'a')
    for (let i = 0; i < 500; i++) expect(redactor.line('MIIE', 'a')).toBe('[REDACTED]')
    expect(redactor.line('MIIE', 'a')).toBeUndefined()
  })
})

describe('redacting words, command lines and URLs', () => {
  it('reads words as it reads lines', () => {
    expect(defaultRedactor().text('note: token=abc')).toBe('note: token=[REDACTED]')
    expect(defaultRedactor().text('my server')).toBe('my server')
  })

  it('knows flags and variables by their names', () => {
    const argv = [
      ['/usr/bin/node', 'server.js', '--token', 'X', '--api-key=Y', 'API_KEY=Z', '-password', 'W'],
      ['--password', '--verbose', '--no-password', 'file', '--token-file', 'f', '--max-tokens=5'],
      [
        '-H',
        'Authorization: Bearer abcdefgh',
        'postgres://u:p@h/db',
        '/PWD=x',
        'sh -c "TOKEN=a b"',
        '--secret=',
      ],
    ].flat()
    expect(defaultRedactor().command(argv)).toEqual(
      [
        ['/usr/bin/node', 'server.js', '--token', '[REDACTED]', '--api-key=[REDACTED]', 'API_KEY=[REDACTED]'],
        ['-password', '[REDACTED]', '--password', '[REDACTED]', '--no-password', 'file', '--token-file', 'f'],
        ['--max-tokens=5', '-H', 'Authorization: Bearer [REDACTED]', 'postgres://u:[REDACTED]@h/db'],
        ['/PWD=[REDACTED]', 'sh -c "TOKEN=[REDACTED] b"', '--secret='],
      ].flat(),
    )
  })

  it('redacts the word after a secret flag, with any content', () => {
    const redactor = defaultRedactor()
    expect(redactor.command(['x', '--token=', 'X', '--password', '--ARGsecret', 'y', 'z'])).toEqual([
      'x',
      '--token=',
      '[REDACTED]',
      '--password',
      '[REDACTED]',
      '[REDACTED]',
      'z',
    ])
    expect(
      redactor.command(['sh', '-c', 'login --password X && run "--api-key" "Y"', 'API_KEY=', 'cmd']),
    ).toEqual(['sh', '-c', 'login --password [REDACTED] && run "--api-key" "Y"', 'API_KEY=', 'cmd'])
  })

  it('reads the user, the query and the fragment of a URL', () => {
    const redactor = defaultRedactor()
    expect(redactor.url('https://me:pw@host:1/p?api_key=a&n=1;%74oken=b#access_token=c&x=y')).toBe(
      'https://me:[REDACTED]@host:1/p?api_key=[REDACTED]&n=1;%74oken=[REDACTED]#access_token=[REDACTED]&x=y',
    )
    expect(redactor.url(`https://host/mcp?x=${jwt}`)).toBe('https://host/mcp?x=[REDACTED]')
    expect(redactor.url('http://localhost:3000/mcp?cursor=1&%zz=1')).toBe(
      'http://localhost:3000/mcp?cursor=1&%zz=1',
    )
  })
})

describe('redacting long texts, which are read only around what announces secrets', () => {
  const plain = 'nothing but words stands here\n'
  const filler = plain.repeat(1000)
  const wide = 'Wörter, 言葉 und слова\n'.repeat(1000)

  it.each([
    ['at the end', `${filler}API_KEY=q9X2mfT7`, `${filler}API_KEY=§`],
    ['at the beginning', `API_KEY=q9X2mfT7\n${filler}`, `API_KEY=§\n${filler}`],
    [
      'in ten places far apart, and behind the last of them',
      `API_KEY=q9X2mfT7\n${filler}`.repeat(10),
      `API_KEY=§\n${filler}`.repeat(10),
    ],
    ['behind letters beyond ASCII', `${wide}API_KEY=q9X2mfT7\n${wide}`, `${wide}API_KEY=§\n${wide}`],
    [
      'in a text without lines',
      `${'word '.repeat(9000)}API_KEY=q9X2mfT7`,
      `${'word '.repeat(9000)}API_KEY=§`,
    ],
    [
      'in a field whose value stands lines before its name',
      `${filler}<add value="q9X2mfT7"\n  note="${plain.repeat(60)}"\n  key="ApiKey"/>\n${filler}`,
      `${filler}<add value="§"\n  note="${plain.repeat(60)}"\n  key="ApiKey"/>\n${filler}`,
    ],
    [
      'in a command of which the flag stands far from the program',
      `${filler}mysql --host=db ${'--comment=x '.repeat(100)}-pq9X2mfT7 shop\n${filler}`,
      `${filler}mysql --host=db ${'--comment=x '.repeat(100)}-p§ shop\n${filler}`,
    ],
    [
      'in the last row of a long table',
      `${filler}name,password\n${'user,\n'.repeat(2000)}me,q9X2mfT7\n`,
      `${filler}name,password\n${'user,\n'.repeat(2000)}me,§\n`,
    ],
    [
      'in a manifest whose kind stands at its end',
      `data:\n  note: q9X2mfT7q9X2mfT7\nrest:\n${filler}kind: Secret\n`,
      `data:\n  note: §\nrest:\n${filler}kind: Secret\n`,
    ],
    [
      'in a key that goes on',
      `${filler}-----BEGIN PRIVATE KEY-----\n${'abcd\n'.repeat(2000)}-----END PRIVATE KEY-----\n${filler}`,
      `${filler}§\n${filler}`,
    ],
  ])('finds one %s', (_, text, left) => {
    expect(redactedString(text)).toBe(left.replaceAll('§', '[REDACTED]'))
  })
})
