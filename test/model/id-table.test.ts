import { randomUUID } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { IdTable } from '../../src/model/id-table.js'

describe('the table of ids', () => {
  it('agrees with a map for any ids and rows', () => {
    const id = fc.oneof(fc.uuid(), fc.string(), fc.constantFrom('', 'a', '\u0000'))
    fc.assert(
      fc.property(fc.array(fc.tuple(id, fc.nat({ max: 2 ** 31 - 3 }))), fc.array(id), (pairs, others) => {
        const table = new IdTable()
        const map = new Map<string, number>()
        for (const [key, row] of pairs) {
          table.set(key, row)
          map.set(key, row)
        }
        for (const key of [...map.keys(), ...others]) expect(table.get(key)).toBe(map.get(key) ?? -1)
      }),
    )
  })

  it('takes ids as bytes for the same as ids as text', () => {
    const id = fc.stringMatching(/^[ -~]{1,40}$/)
    const bytesOf = (key: string): Uint8Array => new TextEncoder().encode(`<${key}>`)
    fc.assert(
      fc.property(fc.array(fc.tuple(id, fc.boolean())), (pairs) => {
        const table = new IdTable()
        pairs.forEach(([key, asBytes], row) => {
          if (asBytes) table.setBytes(bytesOf(key), 1, key.length + 1, row)
          else table.set(key, row)
        })
        for (const [key] of pairs) {
          const row = pairs.findLastIndex(([other]) => other === key)
          expect([table.get(key), table.getBytes(bytesOf(key), 1, key.length + 1)]).toEqual([row, row])
        }
      }),
    )
  })

  it('finds an id again that was given anew after it was looked for', () => {
    const table = new IdTable()
    const ids = Array.from({ length: 20_000 }, () => randomUUID())
    ids.forEach((key, row) => table.set(key, row))
    expect(table.get('another')).toBe(-1)
    ids.forEach((key, row) => table.set(key, row + 1))
    expect(ids.every((key, row) => table.get(key) === row + 1)).toBe(true)
  })

  it('finds each of 100,000 ids, and none that is not there', () => {
    const table = new IdTable()
    const ids = Array.from({ length: 100_000 }, () => randomUUID())
    ids.forEach((id, row) => table.set(id, row))
    expect(ids.every((id, row) => table.get(id) === row)).toBe(true)
    expect(Array.from({ length: 10_000 }, () => table.get(randomUUID())).every((row) => row === -1)).toBe(
      true,
    )
  })

  it('tells ids apart that differ in a counter only', () => {
    const table = new IdTable()
    for (let i = 0; i < 200_000; i += 1)
      table.set(`00000000-0000-4000-8000-${i.toString(16).padStart(12, '0')}`, i)
    let wrong = 0
    for (let i = 0; i < 200_000; i += 1)
      if (table.get(`00000000-0000-4000-8000-${i.toString(16).padStart(12, '0')}`) !== i) wrong += 1
    expect(wrong).toBe(0)
  })
})
