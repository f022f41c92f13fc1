import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { BodyRoom, HttpBody } from '../../src/proxy/http-body.js'

describe('a body as it comes', () => {
  it('is given once, in one piece, however it was cut', () => {
    const body = new HttpBody(100, new BodyRoom(100))
    for (const byte of Buffer.from('a body')) body.add(Uint8Array.of(byte))
    expect(Buffer.from(body.take()).toString()).toBe('a body')
    expect(body.take().length).toBe(0)
    expect(body.sizeBytes).toBe(6)
  })

  it('beyond its limit is known by size and hash', () => {
    const body = new HttpBody(4, new BodyRoom(100))
    body.add(Buffer.from('abc'))
    body.add(Buffer.from('def'))
    expect(body.isTooLong).toBe(true)
    expect(body.sizeBytes).toBe(6)
    expect(body.sha256()).toBe(createHash('sha256').update('abcdef').digest('hex'))
  })

  it('finds no room while others hold it, and says so', () => {
    const room = new BodyRoom(10)
    const first = new HttpBody(100, room)
    first.add(Buffer.alloc(8))
    const second = new HttpBody(100, room)
    second.add(Buffer.alloc(2))
    second.add(Buffer.alloc(1))
    expect(second.isTooLong).toBe(true)
    expect(second.why).toMatch(/too much other data/)
    first.take()
    const third = new HttpBody(100, room)
    third.add(Buffer.alloc(10))
    expect(third.isTooLong).toBe(false)
  })
})
