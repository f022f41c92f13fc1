import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { secretTermOf } from '../../src/redaction/secret-names.js'
import { hasTrigger } from '../../src/redaction/trigger.js'
import { redacted } from './redacting.js'
import { runs } from '../long.js'

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
  ['api:key', 'api/key', 'pass___word', 'access \u2014 key', 'private\nkey', 'pass\u00b7phrase', 'api_keys'],
  ['minio_tokens', 'used_refresh_tokens', 'max_bot_tokens', 'remaining_csrf_tokens', 'tokens'],
  ['passphrase', 'OPENAI_API_KEY', 'bearerToken', 'token\u00e9token', `${'x'.repeat(500)}Password`],
].flat()

const harmless = [
  [
    'max_new_tokens',
    'maxContextTokens',
    'total tokens',
    'cache_read_input_tokens',
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

  it('agree with the trigger, whatever stands at the joints', () => {
    const words =
      'pass word wd phrase code api key private access token secret s x Pass WORD Key API value 2 authorization'
    const word = fc.constantFrom(...words.split(' '), 'bearer', 'max', 'tokens', 'new', '\u212aey')
    const joint = fc.array(
      fc.constantFrom(...'_-. :/[]()\n\t"\\%~\u2014\u200b\u00b7\u0301'.split(''), '\u{1f600}'),
      {
        maxLength: 5,
      },
    )
    const name = fc
      .array(fc.tuple(joint, word), { minLength: 1, maxLength: 5 })
      .map((parts) => parts.map(([joint, word]) => joint.join('') + word).join(''))
    fc.assert(
      fc.property(name, fc.boolean(), fc.nat({ max: 2000 }), (name, ascii, padding) => {
        const written = JSON.stringify(name)
        const key = ascii
          ? written.replace(/[^ -~]/gu, (character) =>
              character.length === 1
                ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
                : character,
            )
          : written
        const isSecret = secretTermOf(name) !== undefined
        if (isSecret) expect(hasTrigger(key)).toBe(true)
        const raw = `{"pad":"${'x '.repeat(padding)}","params":{${key}:"value","n":1}}`
        expect(redacted(raw).includes(':"[REDACTED]"')).toBe(isSecret)
      }),
      { numRuns: runs(5000) },
    )
  })

  it('exempt progressToken at the places of MCP only', () => {
    for (const kept of [
      '{"params":{"progressToken":"a"}}',
      '{"params":{"_meta":{"progressToken":"a"}}}',
      '{"result":{"_meta":{"progressToken":"a"}}}',
    ])
      expect(redacted(kept)).toBe(kept)
    expect(redacted('{"params":{"arguments":{"progressToken" : "a"}}}')).toBe(
      '{"params":{"arguments":{"progressToken" : "[REDACTED]"}}}',
    )
    expect(redacted('{"params":{"arguments":{"progressToken":5}}}')).toContain('5')
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
