import { describe, expect, it } from 'vitest'
import { whyUnread } from '../../src/intercept/unread.js'
import { readFrame } from '../../src/wire/index.js'

const call = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"secret"}}'
const latin1 = (text: string): Uint8Array => Buffer.from(text, 'latin1')

describe('what passes without being looked at', () => {
  it.each([
    ['a byte that is no UTF-8', latin1(call.replace('secret', 'secret\xff')), 'text that is not UTF-8'],
    ['a byte order mark', Buffer.from(`\uFEFF${call}`), 'text after a byte order mark'],
    [
      'a batch beyond all reason',
      Buffer.from(`[${Array.from({ length: 10_001 }, () => call).join(',')}]`),
      'a batch of more than 10,000 messages',
    ],
  ])('is named: %s', (_, bytes, why) => {
    expect(whyUnread(bytes, undefined)).toBe(why)
  })

  it('is named too where it was read as one', () => {
    const batch = `[${Array.from({ length: 10_001 }, () => call).join(',')}]`
    expect(whyUnread(Buffer.from(batch), readFrame(batch))).toBe('a batch of more than 10,000 messages')
  })

  it.each([
    ['noise', latin1('starting \xff')],
    ['other JSON', latin1('{"access_token":"\xff"}')],
    ['a part of a message', latin1(`${call.slice(0, -2)}\xff`)],
  ])('is nothing to speak of where it is %s', (_, bytes) => {
    expect(whyUnread(bytes, undefined)).toBeUndefined()
  })

  it.each([call, `[${call}]`, `[${call},${call}]`])('is none of what was read', (text) => {
    expect(whyUnread(Buffer.from(text), readFrame(text))).toBeUndefined()
  })
})
