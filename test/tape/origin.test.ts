import { createHmac, randomBytes } from 'node:crypto'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { isOrigin, originOf } from '../../src/tape/origin.js'

it('proves the origin of a recording as HMAC-SHA256', () => {
  const facts = fc.record({
    session: fc.string({ unit: 'binary' }),
    command: fc.array(fc.string({ unit: 'binary' })),
    url: fc.option(fc.string()),
  })
  fc.assert(
    fc.property(facts, (origin) => {
      const key = randomBytes(32)
      const { session, command, url } = origin
      const known = createHmac('sha256', key)
        .update(JSON.stringify([session, command, url]))
        .digest('hex')
      expect(originOf(key.toString('hex'), origin)).toBe(known)
      expect(isOrigin(key.toString('hex'), origin, known)).toBe(true)
      expect(isOrigin(key.toString('hex'), { ...origin, session: `${session}x` }, known)).toBe(false)
    }),
  )
})
