import { describe, expect, it } from 'vitest'
import { defaultRedactor, redactedString } from './redacting.js'

// Put together here, so that no scanner of this repository takes them for real ones.
const long = 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'
const jwt = `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.${long}`
const pem = `-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc=\n-----END RSA PRIVATE KEY-----`

/** Between « and »: the secrets. */
const hits: [rule: string, marked: string][] = [
  ['aws-key', 'id «AKIAIOSFODNN7EXAMPLE».'],
  ['aws-key', '«ASIAIOSFODNN7EXAMPLE»'],
  ['sk-key', `token is «sk-${long}»!`],
  ['sk-key', `«sk-ant-api03-${long}»`],
  ['sk-key', `line\n«sk-proj-${long}»`],
  ['sk-key', '«sk-abcdefghijklmnopqrst»'],
  ['github-token', `«ghp_${long}» «gho_${long}» «ghu_${long}» «ghs_${long}» «ghr_${long}»`],
  ['github-token', `«github_pat_11ABC_${long}»`],
  ['slack-token', '«xoxb-123456789012-abcdefABCDEF»'],
  ['slack-token', '«xoxp-1234567890-12345» «xapp-1-A012345-abcdef»'],
  ['slack-webhook', 'https://hooks.slack.com/«services/T0/B0/xyz» ok'],
  ['stripe-key', `«sk_live_${long}» «rk_test_${long}»`],
  ['stripe-key', `«whsec_${long}»`],
  ['jwt', `jwt=«${jwt}»;`],
  ['jwt', '«eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.»'],
  ['bearer', 'curl -H "X: Bearer «abcdefgh»"'],
  ['bearer', 'bearer «YWJjZGVmZ2g=»'],
  ['key:authorization', 'Authorization: Basic «dXNlcjpwYXNz»'],
  ['key:authorization', '-H \'Proxy-Authorization: Digest «username="u", response="r"»\' x'],
  ['url-password', 'postgres://user:«p4ss»@db:5432/x'],
  ['url-password', 'see https://u:«a@b»@host/ and :'],
  ['private-key', `«${pem}»\nafter`],
  ['private-key', '«-----BEGIN PRIVATE KEY-----\nMIIE cut off»'],
  ['env-path', 'cat «/srv/app/.env» now'],
  ['env-path', 'open «.env.local».'],
  ['ssh-key-path', 'ssh -i «~/.ssh/id_rsa» host'],
  ['ssh-key-path', '«keys/id_ed25519»'],
  ['ssh-key-path', '«/home/me/.ssh/deploy.pem»'],
  ['env-path', String.raw`a\nb\ncat\n«/srv/.env»\nend`],
  ['ssh-key-path', String.raw`alpha\nbeta\ngamma_delta\ncp\n«/home/u/.ssh/x»\nend`],
  ['ssh-key-path', String.raw`a\\nb\\t«keys/id_rsa»\\nend`],
  ['ssh-key-path', String.raw`cd\n«C:\\new\\.ssh\\key»\nend`],
  ['ssh-key-path', String.raw`open «C:\new\.ssh\key» now`],
  ['ssh-key-path', 'x\u001b[32m«/a/.ssh/k»\u001b[0m'],
  ['ssh-key-path', 'q=a%20«%2Fhome%2Fu%2Fid_rsa»%20b'],
  ['ssh-key-path', String.raw`«\/home\/u\/.ssh\/deploy»`],
  ['slack-webhook', String.raw`https:\/\/hooks.slack.com\/«services\/T0\/x»\nend`],
  ['url-password', String.raw`{"a":"https:\/\/u:«pw»@host\/x"}`],
  ['url-password', 'postgres://u:«a#pw»@h/db'],
  ['url-password', 'postgres://u:«a/p?w»@h/db x@y'],
  ['url-password', 'https://u:«1234»@h/a@b'],
  ['bearer', 'X: Bearer\t«abcdefgh»'],
  ['bearer', String.raw`X: Bearer\t«abcdefgh»\n`],
  ['bearer', 'X: Bearer "«abcdefgh»"'],
  ['bearer', 'X%3A%20Bearer%20«abcdefgh»%20'],
  ['key:token', 'https://h/#access_token=«abc»&n=1'],
  ['key:token', 'https://h/?a=1;access_token=«abc»'],
  ['key:token', 'https://h/?a=1&amp;access_token=«abc»&amp;n=1'],
  ['key:token', 'https://h/?token%5B%5D=«abc»&%74oken=«d»'],
  ['key:token', String.raw`https://h/?a=1\u0026access_token=«abc»\u0026n=1`],
  ['key:password', String.raw`{\u0022password\u0022:\u0022«x»\u0022,\u0022n\u0022:1}`],
  ['key:password', '{"password": "«x»", "n": 1}'],
  ['key:password', '{"a":{"\\u0070assword":"«x\\"y»"}}'],
  ['key:token', '{"tokens": «["a]", {"b": 1}]», "n": 1}'],
  ['key:apikey', "{'api_key': '«x»', 'n': 1}"],
  ['key:password', JSON.stringify({ a: JSON.stringify({ password: '«i"n»', n: 1 }) })],
  ['key:secret', 'A=1\nFOO_SECRET=«a,b;c»\nB=2'],
  ['key:apikey', 'export API_KEY="«a b»"'],
  ['key:accesskey', 'AWS_SECRET_ACCESS_KEY=«wJalrXUtnFEMI/K7MDENG»'],
  ['key:token', 'https://x/y?access_token=«abc»&n=1'],
  ['key:apikey', 'X-Api-Key: «abc»'],
]

const misses: [why: string, text: string][] = [
  ['a package', 'pip install sk-learn scikit-sk-learn-contrib-example-package'],
  ['words that end in sk', 'task-force disk-usage-of-the-whole-machine-2024 risk-assessment-0123456789'],
  ['an AWS word', 'AKIA and AKIAIOSFODNN7EXAMPLEX and XAKIAIOSFODNN7EXAMPLE'],
  ['short prefixes', 'ghp_short xoxb-1 sk_live_ab github_pat_x whsec_1'],
  ['a JSON head', 'eyJhbGciOiJIUzI1NiJ9 eyJhbGciOiJIUzI1NiJ9.x'],
  ['a challenge', 'WWW-Authenticate: Bearer realm="mcp", error="invalid_token", scope="files:read"'],
  ['a challenge with metadata', 'Bearer resource_metadata="https://x/.well-known/oauth-protected-resource"'],
  ['a challenge without quotes', 'Bearer scope=files:read'],
  ['prose about bearers', 'Use Bearer authentication, a bearer token or the Bearer scheme'],
  ['prose about passwords', 'Authorization: see the docs. The password: choose a good one. secret = none'],
  ['code', 'const token = getToken(); if (password == other) secret: string'],
  ['a port and an @', 'http://host:80/path@x http://h:8080?a@b http://[::1]:80/a@b http://h:${PORT}/a@b'],
  ['a URL without password', 'https://user@host/ http://host:8080/a@b https://host/a:b@c'],
  ['a certificate', '-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----'],
  ['a public key', '-----BEGIN PUBLIC KEY-----\nMIIE\n-----END PUBLIC KEY-----'],
  ['environments', 'process.env.FOO import.meta.env .environment .env.example .env/bin/python $.env_'],
  ['public files', String.raw`~/.ssh/id_rsa.pub ~/.ssh/known_hosts ~/.ssh/config valid_rsa cd ~/.ssh\nls`],
  [
    'JSON inside',
    '{"max_tokens": "12", "token": null, "tokens": 5, "has_password": true, "token_type": "x"}',
  ],
  ['a marker', '{"password": "[REDACTED]"} TOKEN=[REDACTED]'],
]

const withoutMarks = (marked: string): string => marked.replaceAll(/[«»]/g, '')

describe('value patterns', () => {
  it.each(hits)('%s: takes the secret out of %j', (rule, marked) => {
    const text = withoutMarks(marked)
    expect(redactedString(text)).toBe(marked.replaceAll(/«[^]*?»/g, '[REDACTED]'))
    const redactor = defaultRedactor()
    redactor.json(JSON.stringify({ params: { text } }))
    expect(redactor.report().map(({ rule }) => rule)).toContain(rule)
  })

  const escapesBefore = [
    ['\\n', '\\n'],
    ['\\t', '\\r\\n'],
    ['\\\\n', '\\\\n'],
    ['\\u000a', '\\u000a'],
    ['%20', '%0A'],
    ['%3D', '%26'],
    ['\u001b[31m', '\u001b[0m'],
    ['\\u001b[1;31m', '\\u001b[0m'],
    ['\\x1b[38;5;208m', '\\x1b[0m'],
    ['[31m', '[0m'],
    ['=3D', '=20'],
  ]

  it.each(escapesBefore)('find tokens between the escapes %j and %j', (before, after) => {
    const tokens = [
      `sk-ant-${long}`,
      `ghp_${long}`,
      `github_pat_${long}`,
      'xoxb-123456789012-abcdefABCDEF',
      `xapp-1-${long}`,
      `sk_live_${long}`,
      jwt,
      'AKIAIOSFODNN7EXAMPLE',
      '.env',
      'id_rsa',
    ]
    for (const token of tokens) {
      expect(redactedString(`word${before}${token}${after}word`)).toBe(`word${before}[REDACTED]${after}word`)
      const line = `word${before}${token}${after}word`
      expect(defaultRedactor().line(line, 'stderr')).toBe(line.replace(token, '[REDACTED]'))
    }
    // `=` and `%` are no end of a webhook's secret.
    expect(redactedString(`word${before}whsec_${long}${after}word`)).not.toContain(long)
  })

  it.each(misses)('leaves %s alone', (_, text) => {
    expect(redactedString(text)).toBe(text)
  })

  it('makes one of secrets that overlap', () => {
    expect(redactedString(`Authorization: Bearer ${jwt}`)).toBe('Authorization: Bearer [REDACTED]')
    expect(redactedString(`GITHUB_TOKEN=ghp_${long}`)).toBe('GITHUB_TOKEN=[REDACTED]')
  })

  it('is done after one go', () => {
    for (const [, marked] of hits) {
      const once = redactedString(withoutMarks(marked))
      expect(redactedString(once)).toBe(once)
    }
  })
})
