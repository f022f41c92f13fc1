import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  decodeClientLine,
  decodeServerLine,
  encodeLine,
  isLineFault,
  longestLine,
  type Command,
} from '../../src/control-schema/index.js'

describe('commands', () => {
  it('come out as they went in', () => {
    const commands: Command[] = [
      { type: 'subscribe', id: 1, from: 'now' },
      { type: 'subscribe', id: 2, from: 12 },
      { type: 'hold', id: 3, on: true },
      { type: 'breakpoints', id: 4, filters: ['tool:search'] },
      { type: 'edit', id: 5, message: 'm', text: '{"id": 1.0}' },
      { type: 'answer', id: 6, message: 'm', error: '{"code":1,"message":"no"}' },
      { type: 'inject', id: 7, direction: 'server_to_client', text: '{}', answer: 'pass' },
      { type: 'rules', id: 8, file: null },
      { type: 'annotate', id: 9, text: 'look' },
    ]
    for (const command of commands) {
      const line = encodeLine(command)
      expect(line).toMatch(/^[^\n]*\n$/)
      expect(decodeClientLine(line.slice(0, -1))).toEqual(command)
    }
  })

  it('with a fault are refused with the member and the command', () => {
    expect(decodeClientLine('{"type":"hold","id":3,"on":"yes"}')).toMatchObject({
      id: 3,
      fault: expect.stringMatching(/^on: /),
    })
    expect(decodeClientLine('{"type":"fly","id":4}')).toMatchObject({ id: 4, fault: expect.any(String) })
    expect(decodeClientLine('{"type":"hold"')).toEqual({ id: null, fault: 'not valid JSON' })
  })

  it('may have unknown members', () => {
    expect(decodeClientLine('{"type":"hold","id":3,"on":true,"later":1}')).toMatchObject({ on: true })
  })

  it('never throw, for any input', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        const line = decodeClientLine(text)
        expect(isLineFault(line) || 'type' in line).toBe(true)
      }),
    )
  })
})

describe('a line from a capture', () => {
  it('carries a line of the tape byte for byte', () => {
    fc.assert(
      fc.property(fc.json(), (line) => {
        const sent = encodeLine({ type: 'record', line })
        expect(JSON.parse(sent)).toEqual({ type: 'record', line: JSON.parse(line) })
        expect(decodeServerLine(sent.slice(0, -1))).toEqual({ type: 'record', line })
      }),
    )
    const odd = '{"raw":{"n":12345678901234567890,"n":1.0}}'
    expect(decodeServerLine(encodeLine({ type: 'record', line: odd }).slice(0, -1))).toEqual({
      type: 'record',
      line: odd,
    })
  })

  it('may be of an unknown type', () => {
    expect(decodeServerLine('{"type":"weather","sunny":true}')).toBeUndefined()
  })

  it('is checked', () => {
    expect(decodeServerLine('{"type":"held","message":"m"}')).toMatchObject({ fault: expect.any(String) })
    expect(decodeServerLine('[]')).toMatchObject({ fault: expect.any(String) })
    const reply = { type: 'reply', id: 1, ok: true, result: { path: '/x' } } as const
    expect(decodeServerLine(encodeLine(reply).slice(0, -1))).toEqual(reply)
  })

  it('has room for the largest message', () => {
    expect(longestLine).toBeGreaterThan(2 * 64 * 1024 * 1024)
  })
})
