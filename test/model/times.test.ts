import { array, assert, constantFrom, date, oneof, property } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Times } from '../../src/model/times.js'

const time = oneof(
  date({
    min: new Date('2026-08-01T10:00:00Z'),
    max: new Date('2026-08-01T10:02:00Z'),
    noInvalidDate: true,
  }),
  date({ min: new Date(0), noInvalidDate: true }),
)
const odd = constantFrom(
  '',
  'x',
  '2026-08-01T10:00:60.000Z',
  '2026-08-01T10:00:1a.000Z',
  '2026-08-01T10:00:00.0a0Z',
  '2026-08-01T10:00:00Z',
  '2026-08-01T10:00:00.000+02:00',
  '2026-13-01T10:00:00.000Z',
)

describe('Times', () => {
  it('reads every time as the platform does, in any order', () => {
    assert(
      property(
        array(
          oneof(
            time.map((at) => at.toISOString()),
            odd,
          ),
        ),
        (texts) => {
          const times = new Times()
          expect(texts.map((text) => times.parse(text))).toEqual(texts.map((text) => Date.parse(text)))
        },
      ),
    )
  })
})
