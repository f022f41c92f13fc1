import { describe, expect, it } from 'vitest'
import { parseHeader } from '../../src/cli/header-option.js'

const env = { TOKEN: 'hush-hush\n', TWO: 'one\ntwo', ODD: 'a\u0000b' }

describe('--header', () => {
  it('has what the environment says, without the line break of a file, and knows it for a secret', () => {
    expect(parseHeader('Authorization: Bearer ${TOKEN}', env)).toEqual({
      name: 'Authorization',
      value: 'Bearer hush-hush',
      secrets: ['hush-hush'],
    })
    expect(parseHeader('X-Plain:a: b ', env)).toEqual({ name: 'X-Plain', value: 'a: b', secrets: [] })
  })

  it.each<[text: string, why: string]>([
    ['X: ${TWO}', '--header X: its value has a line break'],
    ['X: ${ODD}', '--header X: its value has a character that is not allowed in headers'],
    ['X: ${NONE}', '--header X: unknown variable NONE'],
    ['no header', '--header (nothing) is not a header'],
    ['a b: c', '--header a b is not a header'],
    ...['Host', 'content-length', 'Transfer-Encoding', 'Connection', 'MCP-Session-Id'].map(
      (name): [string, string] => [`${name}: x`, `--header ${name}: wiretape sets this header itself`],
    ),
  ])('is refused with the reason: %j', (text, why) => {
    expect(() => parseHeader(text, env)).toThrow(why)
  })
})
