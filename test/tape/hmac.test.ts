import { createHmac } from 'node:crypto'
import { assert, property, string, uint8Array } from 'fast-check'
import { expect, it } from 'vitest'
import { hmacSha256 } from '../../src/tape/hmac.js'

it('gives the HMAC-SHA256 of node:crypto for any key and text', () => {
  assert(
    property(uint8Array({ maxLength: 200 }), string({ unit: 'binary', maxLength: 300 }), (key, text) => {
      expect(hmacSha256(key, text)).toBe(createHmac('sha256', key).update(text).digest('hex'))
    }),
  )
})
