import { describe, expect, it } from 'vitest'
import { compilePath } from '../../src/json-path/index.js'
import { withoutGiven } from '../../src/replay/given-values.js'
import { createLiveValues } from '../../src/replay/live-values.js'

const secret = { value: 's3cret"x', recorded: '[REDACTED]', tag: 't' }

describe('an answer that repeats what --set gave', () => {
  it('has the marker in its place: alone, within a text, in JSON that a text holds, and in a name', () => {
    const text = JSON.stringify({
      result: {
        alone: 's3cret"x',
        'a/b': [`before s3cret"x after`],
        json: JSON.stringify({ inner: 's3cret"x' }),
        's3cret"x': true,
        other: 's3cret',
      },
    })
    const without = withoutGiven(text, [secret])
    expect(JSON.parse(without.text)).toEqual({
      result: {
        alone: '[REDACTED]',
        'a/b': ['before [REDACTED] after'],
        json: JSON.stringify({ inner: '[REDACTED]' }),
        '[REDACTED]': true,
        other: 's3cret',
      },
    })
    expect(without.marks).toEqual(
      ['/result/alone', '/result/a~1b/0', '/result/json'].map((at) => ({ at, tag: 't' })),
    )
  })

  it('has the recorded value where that was no secret, and every other character as it came', () => {
    const given = [{ value: '/tmp/now', recorded: '/srv/then' }]
    expect(withoutGiven('{"a" : "/tmp/now/x", "n":1.0,"b":"\\u00e9"}', given)).toEqual({
      text: '{"a" : "/srv/then/x", "n":1.0,"b":"\\u00e9"}',
      marks: [],
    })
  })

  it('keeps what only contains a short value', () => {
    const pin = { value: '12', recorded: '[REDACTED]', tag: 't' }
    expect(withoutGiven('{"a":"12","b":"1234","c":12,"d":120}', [pin])).toEqual({
      text: '{"a":"[REDACTED]","b":"1234","c":"[REDACTED]","d":120}',
      marks: [
        { at: '/a', tag: 't' },
        { at: '/c', tag: 't' },
      ],
    })
  })

  it.each([
    ['"[REDACTED]"', '"abcd"', { value: 'abcd', recorded: '[REDACTED]', tag: 't' }, true],
    ['"Bearer [REDACTED]"', '"Bearer abcd"', { value: 'abcd', recorded: '[REDACTED]', tag: 't' }, true],
    ['"then"', '"now"', { value: 'now', recorded: 'then' }, false],
    ['{}', '{"key":"abcd"}', { value: 'abcd', recorded: '[REDACTED]' }, false],
  ])('knows it from the message: %s, given %s', (recorded, json, expected, isRedacted) => {
    const values = createLiveValues([{ path: compilePath('$.params.a'), name: '$.params.a', json }])
    values.apply(`{"params":{"a":${recorded}}}`, isRedacted ? [{ at: '/params/a', tag: 't' }] : [])
    expect(values.given()).toEqual([expected])
  })
})
