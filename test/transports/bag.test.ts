import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createBag } from '../../src/transports/http-proxy/bag.js'

describe('a bag', () => {
  it('holds every added element until it is removed, in any order', () => {
    fc.assert(
      fc.property(fc.array(fc.option(fc.nat(20), { nil: undefined })), (steps) => {
        const bag = createBag<number>()
        const leaves: (() => void)[] = []
        const here = new Set<number>()
        for (const [n, leaver] of steps.entries()) {
          if (leaver === undefined) {
            const number = leaves.length
            leaves.push(bag.add(number))
            here.add(number)
          } else {
            const number = leaver % Math.max(1, leaves.length)
            leaves[number]?.()
            here.delete(number)
          }
          const found: number[] = []
          bag.each((thing) => found.push(thing))
          expect({ n, found: found.toSorted((a, b) => a - b) }).toEqual({ n, found: [...here] })
          expect(bag.size).toBe(here.size)
        }
      }),
    )
  })

  it('may be left while it is looked through', () => {
    const bag = createBag<() => void>()
    let visits = 0
    for (let n = 0; n < 5; n += 1) {
      const leave = bag.add(() => leave())
    }
    bag.each((leave) => {
      visits += 1
      leave()
    })
    expect([visits, bag.size]).toEqual([5, 0])
  })
})
