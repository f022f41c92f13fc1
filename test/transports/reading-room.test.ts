import { describe, expect, it } from 'vitest'
import { createReadingRoom } from '../../src/transports/http-proxy/reading-room.js'

describe('the room for bodies that are read whole', () => {
  it('lets only the first one be read further when it is full, and tells the others when it is not', () => {
    const room = createReadingRoom(10)
    const told: string[] = []
    const [a, b, c] = ['a', 'b', 'c'].map((name) => room.enter(() => told.push(name)))
    const waiting = (): boolean[] => [a!, b!, c!].map((one) => one.mustWait())
    a!.took(4)
    b!.took(6)
    expect(waiting()).toEqual([false, false, false])
    c!.took(5)
    expect(waiting()).toEqual([false, true, true])
    a!.took(4)
    a!.leave()
    expect(told).toEqual(['b', 'c'])
    expect([b!, c!].map((one) => one.mustWait())).toEqual([false, true])
    b!.leave()
    b!.leave()
    expect(c!.mustWait()).toBe(false)
    expect(told).toEqual(['b', 'c', 'c'])
    c!.leave()
    const next = room.enter(() => undefined)
    next.took(10)
    const late = room.enter(() => undefined)
    expect(late.mustWait()).toBe(false)
  })
})
