import { describe, expect, it } from 'vitest'
import { redacted } from './redacting.js'

const secret = [
  ['password', 'passwd', 'pwd', 'secret', 'token', 'api_key', 'authorization', 'bearer', 'private_key'],
  ['access_key', 'PASSWORD', 'Password', 'access_token', 'accessToken', 'X-Api-Key', 'apikey', 'apiKey'],
  [
    'clientSecret',
    'user.password',
    'dbPassword',
    'db password',
    'tokens',
    'passwords',
    'secrets',
    'api keys',
  ],
  [
    'secret_key',
    'tokenValue',
    'passwordHash',
    'token2',
    'accesstoken',
    'authtoken',
    'secretkey',
    'privatekey',
  ],
  ['accesskey', 'awssecretaccesskey', 'AWS_SECRET_ACCESS_KEY', 'aws_access_key', 'refresh-token', 'idToken'],
  ['x-auth-token', 'Proxy-Authorization', 'authorizationHeader', 'api__key', 'user[password]', 'pass-word'],
  ['passphrase', 'OPENAI_API_KEY', 'bearerToken', 'token\u00e9token', `${'x'.repeat(500)}Password`],
].flat()

const harmless = [
  [
    'progressToken',
    'nextCursor',
    'cursor',
    'token_endpoint',
    'authorization_endpoint',
    'authorization_servers',
  ],
  ['token_type', 'token_endpoint_auth_methods_supported', 'tokenize', 'tokenizer', 'secretary', 'max_tokens'],
  [
    'bearer_methods_supported',
    'maxTokens',
    'maxOutputTokens',
    'prompt_tokens',
    'key',
    'keys',
    'monkey',
    'auth',
  ],
  [
    'author',
    'authorized',
    'publicKey',
    'pass',
    'passed',
    'compass',
    'passwordless',
    'expires_in',
    'signature',
  ],
  ['tokenCount', 'password_policy', '', 'x'],
].flat()

describe('the key rules', () => {
  it.each(secret)('take the value of %j for a secret', (name) => {
    const text = JSON.stringify({ params: { [name]: 'v', n: 1 } })
    expect(redacted(text)).toBe(JSON.stringify({ params: { [name]: '[REDACTED]', n: 1 } }))
  })

  it.each(harmless)('leave the value of %j alone', (name) => {
    const text = JSON.stringify({ params: { [name]: 'value', password: 1 } })
    expect(redacted(text)).toBe(text)
  })

  it('replace strings, objects and arrays whole, and leave numbers, booleans, null and empty values', () => {
    const text = '{"a":[{"token":{"a":[1]}},{"token":["x"]},{"token":"x"}],"params":{"token":1.0,"pwd":true}}'
    expect(redacted(text)).toBe(
      '{"a":[{"token":"[REDACTED]"},{"token":"[REDACTED]"},{"token":"[REDACTED]"}],"params":{"token":1.0,"pwd":true}}',
    )
    const kept =
      '{"token":-1e9,"pwd":null,"secret":false,"tokens":[ ],"secrets":{},"password":"","bearer":"[REDACTED]"}'
    expect(redacted(kept)).toBe(kept)
  })
})
