import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { completeFilter, parseFilter } from '../../src/filter/index.js'

const known = { methods: ['tools/list', 'tools/call', 'ping'], tools: ['echo', 'two words'], rules: ['swap'] }

/** The text after each proposed choice; `|` is the cursor. */
function choices(text: string): string[] {
  const cursor = text.indexOf('|')
  const whole = text.replace('|', '')
  const { from, to, options } = completeFilter(whole, cursor, known)
  return options.map((option) => whole.slice(0, from) + option.text + whole.slice(to))
}

describe('completeFilter', () => {
  it.each<[string, string[]]>([
    ['me|', ['method:']],
    ['dir:in si|', ['dir:in size:', 'dir:in since:']],
    ['-la|', ['-latency:']],
    ['(ru|)', ['(rule:)']],
    ['>ru|', ['>rule:']],
    ['method:|', ['method:tools/list', 'method:tools/call', 'method:ping']],
    ['method:call|', ['method:tools/call']],
    ['method:to| x', ['method:tools/list x', 'method:tools/call x']],
    ['method:to|ols/li x', ['method:tools/list x', 'method:tools/call x']],
    ['tool:wo|', ['tool:"two words"']],
    ['is:un|', ['is:unanswered', 'is:undelivered']],
    ['dir:|', ['dir:in', 'dir:out']],
    ['latency:|', ['latency:>200ms']],
    ['rule:|', ['rule:swap']],
    ['a o|', ['a or ']],
    ['o|', []],
    ['"me|', []],
    ['~/me|', []],
    ['zzz:|', []],
  ])('%s', (text, expected) => {
    expect(choices(text).toSorted()).toEqual(expected.toSorted())
  })

  it('offers all keys where a term begins', () => {
    expect(choices('|').length).toBeGreaterThan(15)
    expect(choices('tool:x |').length).toBeGreaterThan(15)
  })

  it('never throws, and proposed values parse', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', ':', ' ', '"', '(', '~', '/', '\\', '-', 'é') }),
        fc.integer({ min: -5, max: 50 }),
        (text, cursor) => {
          const { from, to } = completeFilter(text, cursor, known)
          expect(from).toBeLessThanOrEqual(to)
        },
      ),
    )
    for (const key of [
      'method:',
      'tool:',
      'is:',
      'status:',
      'dir:',
      'transport:',
      'latency:',
      'size:',
      'since:',
    ])
      for (const text of choices(`${key}|`))
        expect({ text, fault: parseFilter(text).fault }).toEqual({ text })
  })
})
