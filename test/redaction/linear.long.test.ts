import { describe, expect, it } from 'vitest'
import { isLong } from '../long.js'
import { defaultRedactor, redactorOf, rulesFile } from './redacting.js'

// No times are asserted: anything that is not linear runs into the timeout. In short, a fifth of it does too.
const megabyte = isLong ? 1_000_000 : 200_000

/** Text that scanners would have to read again and again, and whether a secret is in it. */
const hostile: [piece: string, found: boolean][] = [
  ['-eyJ', false],
  ['eyJaaaaaaaaaaaaaaa.b.', false],
  ['eyJaaaaaaaaaaaaaaa.', true],
  ['Bearer ', false],
  ['Bearer=', true],
  ['://a:', false],
  ['://a:@', false],
  ['-----BEGIN ', false],
  ['-----BEGIN PRIVATE KEY-----', true],
  ['sk-', false],
  [' sk-', false],
  ['ghp_', true],
  ['xoxb-', true],
  [' AKIA', false],
  ['[', false],
  ['{', false],
  ['"a":', false],
  ['"', false],
  ['\\"', false],
  ['\\', false],
  ['=', false],
  [' : ', false],
  ['.env', true],
  ['.env/', false],
  ['.envs', false],
  ['.ssh/', true],
  ['id_rsa', true],
  ['"password":', true],
  ['"token":[', true],
  ['"token":"', false],
  ['\\"token\\":\\"', false],
  ["'pwd':", true],
  ['pwd="', true],
  ['authorization: ', false],
  ['authorization:', false],
  ['authorization=\\', true],
  [`"token":${'1'.repeat(64)}`, true],
  [`"token":${'1'.repeat(64)},`, false],
  ['token:null,', false],
  ['authorization: Bearer ', true],
  ['TOKEN=', true],
  ['hooks.slack.com/', true],
  ['\\u0061', false],
  ['password', false],
  ['token\u20ac', false],
  ['"Authorization: Digest a ', true],
  ["'Authorization: Hawk a ", true],
  ['"Authorization: Digest a\n', true],
  ['Authorization: Bearer "', true],
  ['password\\u0022:\\u0022', true],
  ['\\u0022password\\u0022:\\u0022', false],
  ['\\u0022', false],
  ['--password ', false],
  ['--password "', false],
  ['"--token","', false],
  ['--a', false],
  ['\u001b[0m', false],
  ['\u001b[0mtoken\u001b[0m=', false],
  ['://a:b/', false],
  ['://a:b#@', true],
  ['://a:b@', true],
  ['://a:1/', false],
  [':\\/', false],
  [':\\/\\/', false],
  ['hooks.slack.com\\/', true],
  ['.ssh\\', true],
  ['.ssh\\n', false],
  ['\\n.env/', false],
  ['%20.env/', false],
  ['/\\n.envs', false],
  ['C:\\n', false],
  ['C:\\n.envs', false],
  ['Bearer\\t', false],
  ['Bearer%20', false],
  ['token%5B%5D=', true],
  ['\\u0026token=', false],
  ['pass', false],
  ['pass_', false],
  ['api_', false],
  ['_key', false],
  ['\\nsk-', false],
  ['-----END', false],
  ['whsec_', false],
  ['xapp-', true],
  ['AKIA', false],
  ['github_pat_', true],
  ['sk_live_', true],
  ['/', false],
  [' ', false],
  ['.', false],
]

/** The same for prefixes of vendors, forms, tables, flags and manifests. */
const shapes: string[] = [
  'glpat-',
  'EAAA',
  '.atlasv1.',
  '0Q~',
  '_mmk',
  '.acc_',
  'Private-Lines:',
  '---- BEGIN SSH2 PRIVATE KEY ----',
  '/api/webhooks/',
  'ZXlK',
  '<input name="token" ',
  '<input value="x" ',
  '<a ',
  '<token>x',
  'form-data; name="token"',
  'name="token"\r\n\r\n form-data',
  'put("token", "',
  '|token|\n',
  'token,a\n',
  '|',
  'ENV TOKEN ',
  'name: TOKEN\n',
  'kind: Secret\ndata:\n',
  'kind: Secret\n',
  '--pat ',
  '--token=',
  ',--pat=a',
  '"token":x',
  'token=a,',
  'key:a]',
  'mysql -p',
  'curl -u a:',
  'token%3D',
  'token: str = "',
  'snyk: ',
  '"kty" "d":',
  'password: Some("',
  'key: ',
]

describe('text made to be slow', () => {
  it.each(hostile)('is read in linear time: %j', (piece, found) => {
    const text = piece.repeat(megabyte / piece.length)
    const value = defaultRedactor().json(JSON.stringify({ params: { text, n: 'token' } }))
    expect(value !== undefined).toBe(found)
    const name = defaultRedactor().json(JSON.stringify({ params: { [text]: 1 } }))
    expect(name !== undefined).toBe(found)
    defaultRedactor().line(text, 'stderr')
    defaultRedactor().command([text, '-', `--${text}`])
    defaultRedactor().url(text)
    defaultRedactor().url(`https://a?${text}`)
  })

  it.each(shapes)('is read in linear time too: %j', (piece) => {
    const text = piece.repeat(megabyte / piece.length)
    defaultRedactor().json(JSON.stringify({ params: { text, n: 'token' } }))
    defaultRedactor().line(text, 'stderr')
    defaultRedactor().command([text, '-p', text])
    defaultRedactor().url(`https://a/${text}`)
    defaultRedactor().path(text)
    expect(text.length).toBeGreaterThan(megabyte / 2)
  })

  it.each([
    ['-.envs', '.'],
    ['id_rsa.pub', '.'],
    ['://a:b', '/'],
    ['://a:b/', ' '],
    ['"token":', ' '],
    ['token ', ':'],
    ['\\.envs', 'n'],
    ['pwd=', '\\'],
    ['-----BEGIN PRIVATE KEY', '-'],
  ])('and many %j before a long run of %j', (piece, run) => {
    const text = piece.repeat(megabyte / piece.length) + run.repeat(2 * megabyte)
    const raw = JSON.stringify({ params: { text, n: 'token .env' } })
    expect((defaultRedactor().json(raw)?.raw ?? raw).length).toBeGreaterThan(0)
    defaultRedactor().line(text, 'stderr')
    defaultRedactor().headers([
      ['x', text],
      ['authorization', text],
    ])
    defaultRedactor().path(`/p?${text}`)
    defaultRedactor().form(text)
  })

  it('and base64 of 2 MB', () => {
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
    let state = 1
    const next = (): string => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
      return letters[(state >> 16) & 63] ?? 'A'
    }
    const data = Array.from({ length: 2 * megabyte }, next).join('')
    expect(defaultRedactor().json(`{"result":{"data":"${data}"}}`)).toBeUndefined()
    expect(defaultRedactor().json(`{"result":{"data":"${data}","token":"x"}}`)?.red).toHaveLength(1)
    expect(defaultRedactor().line(data, 'stderr')).toBeUndefined()
  })

  it('and a million levels', () => {
    const deep = '{"a":['.repeat(megabyte / 2)
    const ends = ']}'.repeat(megabyte / 2)
    expect(defaultRedactor().json(`{"params":${deep}${ends}}`)?.raw).toBe('{"params":"[REDACTED]"}')
  })

  it('and thousands of secrets below long or many names', () => {
    const secrets = Array(20_000).fill('"token":"x"').join(',')
    const found = defaultRedactor().json(`{"${'n'.repeat(megabyte)}":{${secrets}}}`)
    expect(found?.red).toHaveLength(20_000)
    expect(found?.red.at(-1)?.at).toBe('')
    const nested = `${'{"token":"x","a":'.repeat(19_000)}1${'}'.repeat(19_000)}`
    expect(defaultRedactor().json(`{"params":${nested}}`)?.red).toHaveLength(19_000)
    const names = Array.from({ length: 100_000 }, (_, i) => `"k${i}":1`).join(',')
    expect(defaultRedactor().json(`{"params":{${names},"token":"x"}}`)?.red).toHaveLength(1)
  })
})

describe("a user's rules on text made to be slow", () => {
  it.each(['(a+)+$', '(a|a)*b', 'a[^z]*z|a', '(?:a?){50}a{50}', 'x*'])('stay linear: %s', async (pattern) => {
    const redactor = await redactorOf({ patterns: [pattern] })
    const text = 'a'.repeat(100_000)
    const left = redactor.json(JSON.stringify({ params: { text } }))
    expect((left?.raw ?? text).length).toBeGreaterThan(0)
  })

  it.each([
    '$..*',
    '$..[?@.a==1]',
    '$..[?@==$.params]',
    '$..[?search(@, "(a+)+$")]',
    '$[*,*,*][*,*,*][*,*,*][*,*,*][*,*,*][*,*,*][*,*,*][*,*,*]',
    '$..[?@[?@[?@[?@.a]]]]',
  ])('stay linear: %s', async (path) => {
    const redactor = await redactorOf(rulesFile([{ path }]))
    const wide = JSON.stringify({
      params: Array.from({ length: 50_000 }, () => ({
        a: 2,
        b: [[{ c: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!' }]],
      })),
    })
    const deep = `{"params":${'{"a":'.repeat(15_000)}1${'}'.repeat(15_000)}}`
    for (const raw of [wide, deep]) expect((redactor.json(raw)?.raw ?? raw).length).toBeGreaterThan(0)
  })
})
