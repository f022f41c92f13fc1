import { describe, expect, it } from 'vitest'
import { Redactor } from '../../src/redaction/index.js'
import { defaultRedactor, redactorOf } from './redacting.js'

const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl'

describe('redacting the headers of HTTP', () => {
  it.each([
    ['Authorization', 'Bearer abc', 'Bearer [REDACTED] tag=00000000000000ab'],
    ['authorization', '  Basic dXNlcjpwYXNz', 'Basic [REDACTED] tag=00000000000000ab'],
    ['Proxy-Authorization', 'Digest username="u", response="r"', 'Digest [REDACTED] tag=00000000000000ab'],
    ['authorization', 'abc', '[REDACTED] tag=00000000000000ab'],
    ['Cookie', 'a=1; session=x', '[REDACTED]'],
    ['Set-Cookie', 'session=x; HttpOnly', '[REDACTED]'],
    ['Mcp-Session-Id', '5c1f', '[REDACTED] (4 characters)'],
    ['Mcp-Session-Id', '5c1f5c1f5c1f5c1f', '[REDACTED]'],
    ['DPoP', jwt, '[REDACTED]'],
    ['X-Api-Key', 'abc', '[REDACTED]'],
    ['x-auth-token', 'abc', '[REDACTED]'],
    ['X-Custom', `see ${jwt}`, 'see [REDACTED]'],
    ['Location', 'https://h/cb?access_token=abc&n=1', 'https://h/cb?access_token=[REDACTED]&n=1'],
    ['location', 'http://h/cb?code=abc&state=s#x', 'http://h/cb?code=[REDACTED]&state=s#x'],
    ['Location', '/cb#access_token=abc&state=s', '/cb#access_token=[REDACTED]&state=s'],
    ['Referer', 'http://h/cb?state=s&code=abc', 'http://h/cb?state=s&code=[REDACTED]'],
  ])('takes the secret out of %s: %s', (name, value, left) => {
    const redactor = new Redactor({ defaults: true, tag: () => '00000000000000ab' })
    expect(redactor.headers([[name, value]])).toEqual([[name, left]])
    expect(defaultRedactor().headers([[name, left]])).toEqual([[name, left]])
    expect(JSON.stringify(redactor.report())).not.toContain('abc')
    expect(redactor.report()).toHaveLength(1)
  })

  it.each([
    ['https://api.example.com/mcp', ' aud=https://api.example.com/mcp'],
    [
      ['https://a.example/x?key=1#y', 'https://me:pass@b.example'],
      ' aud=https://a.example/x aud=https://b.example/',
    ],
    ['some-client', ''],
    [`https://a.example/${'x'.repeat(300)}`, ''],
    [{ a: 1 }, ''],
  ])('tells for whom a JWT is: %j', (aud, told) => {
    const payload = Buffer.from(JSON.stringify({ sub: 'me', aud })).toString('base64url')
    const redactor = new Redactor({ defaults: true, tag: () => '00000000000000ab' })
    const [[, value] = []] = redactor.headers([['Authorization', `Bearer e30.${payload}.c2ln`]])
    expect(value).toBe(`Bearer [REDACTED] tag=00000000000000ab${told}`)
    expect(redactor.headers([['Authorization', value!]])).toEqual([['Authorization', value]])
  })

  it('leaves plain headers alone, in their order and spelling, repeated ones too', () => {
    const headers = [
      ['Content-Type', 'application/json'],
      ['accept', 'application/json, text/event-stream'],
      ['Accept', 'x'],
      ['MCP-Protocol-Version', '2025-06-18'],
      ['WWW-Authenticate', 'Bearer resource_metadata="https://x/y", scope="a"'],
      ['cookie', ''],
    ] as const
    const redactor = defaultRedactor()
    expect(redactor.headers(headers)).toEqual(headers)
    expect(redactor.report()).toEqual([])
  })

  it('applies only the rules of the user where the built-in ones are off', async () => {
    const redactor = await redactorOf({ patterns: ['CUST-[0-9]+'] })
    const headers = [['authorization', 'Bearer CUST-1 x']] as const
    expect(redactor.headers(headers)).toEqual([['authorization', 'Bearer [REDACTED] x']])
    expect(redactor.path('/a?token=CUST-1&b=2')).toBe('/a?token=[REDACTED]&b=2')
    expect(redactor.form('password=p&a=CUST-1')).toBe('password=p&a=[REDACTED]')
    expect(new Redactor({ defaults: false, tag: String }).path('/a?token=x')).toBe('/a?token=x')
  })
})

describe('redacting paths and forms', () => {
  it.each([
    ['/mcp', '/mcp'],
    ['/mcp?cursor=1&b', '/mcp?cursor=1&b'],
    ['/messages?sessionId=5c1f&n=1', '/messages?sessionId=[REDACTED]&n=1'],
    ['/messages?session_id=5c1f', '/messages?session_id=[REDACTED]'],
    ['/cb?code=abc&state=x', '/cb?code=[REDACTED]&state=x'],
    ['/x?api_key=a&n=1&access%5Ftoken=b', '/x?api_key=[REDACTED]&n=1&access%5Ftoken=[REDACTED]'],
    ['/x?code=&%zz=1&token', '/x?code=&%zz=1&token'],
    [`/x/${jwt}`, '/x/[REDACTED]'],
    ['/x?a=home/u/.ssh/id_rsa', '/x?a=[REDACTED]'],
  ])('takes the secrets out of the path %s', (path, left) => {
    expect(defaultRedactor().path(path)).toBe(left)
  })

  it.each([
    ['code', 'code'],
    ['code_verifier', 'code_verifier'],
    ['client_assertion', 'client_assertion'],
    ['assertion', 'assertion'],
    ['device_code', 'device_code'],
    ['otp', 'otp'],
    ['refresh_token', 'token'],
    [`${'x'.repeat(5_000)}_token`, 'token'],
  ])('takes %s out of a form', (name, rule) => {
    const redactor = defaultRedactor()
    expect(redactor.form(`grant_type=authorization_code&${name}=abc&client_id=me`)).toBe(
      `grant_type=authorization_code&${name}=[REDACTED]&client_id=me`,
    )
    expect(redactor.report()).toEqual([{ rule: `parameter:${rule}`, count: 1 }])
  })

  it('knows names in any case, with blanks as forms write them', () => {
    expect(defaultRedactor().form('Code=a&client+secret=b&user%5Bpassword%5D=c&x=a+b')).toBe(
      'Code=[REDACTED]&client+secret=[REDACTED]&user%5Bpassword%5D=[REDACTED]&x=a+b',
    )
  })
})
