import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createIntColumn, createNumberColumn } from '../../src/model/index.js'

describe('a column', () => {
  it('returns the stored values, row by row', () => {
    const change = fc.record({ row: fc.nat(20_000), value: fc.integer({ min: -1, max: 5 }) })
    fc.assert(
      fc.property(fc.nat(20_000), fc.array(change), (length, changes) => {
        const column = createIntColumn()
        const expected: number[] = []
        for (let row = 0; row < length; row += 1) {
          const value = (row * 7) % 5 === 0 ? row : -1
          column.push(value)
          expected.push(value)
        }
        for (const { row, value } of changes.filter((one) => one.row < length)) {
          column.set(row, value)
          expected[row] = value
        }
        expect(column.length).toBe(length)
        expect(expected.map((_, row) => column.get(row))).toEqual(expected)
      }),
      { numRuns: 30 },
    )
  })

  it('says of other rows what it was told to say, and takes none', () => {
    const column = createNumberColumn(7)
    column.push(1.5)
    expect([column.get(-1), column.get(0), column.get(1), column.get(1e6)]).toEqual([7, 1.5, 7, 7])
    expect(() => column.set(1, 2)).toThrow(RangeError)
  })
})
