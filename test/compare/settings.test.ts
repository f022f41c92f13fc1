import { describe, expect, it } from 'vitest'
import { parseMatcher, parseSettingsFile, suggestMatcher } from '../../src/compare/index.js'

describe('a matcher', () => {
  it.each([
    ['timestamp', '"2026-01-01T00:00:00Z"', '"2027-01-01 10:00"', true],
    ['timestamp', '"made at 2026-01-01T00:00:00Z."', '"made at 2027-01-01T00:00:00+01:00."', true],
    ['timestamp', '1790000000', '1790000001', true],
    ['timestamp', '12', '13', false],
    ['timestamp', '"2026-01-01T00:00:00Z"', '"never"', false],
    ['uuid', '"x-0b0e1f8c-8d3e-4e0e-9d0a-111111111111"', '"x-5b0e1f8c8d3e4e0e9d0a222222222222"', true],
    ['duration', '"took 1.5 s"', '"took 900ms"', true],
    ['cursor', '"a"', '"b"', true],
    ['cursor', '"a"', '""', false],
    ['number~0.5', '1', '1.4', true],
    ['number~0.5', '1', '1.6', false],
    ['number~5%', '"about 100 files"', '"about 104 files"', true],
    ['number~5%', '100', '106', false],
    ['number', '"1 file"', '"2 files"', false],
    ['type', '"a"', '1', false],
    ['any', '"a"', 'null', true],
    ['unordered', '[1,{"a":1}]', '[{"a":1.0},1]', true],
    ['unordered', '[1,1]', '[1,2]', false],
    ['/^v\\d+$/', '"v1"', '"v22"', true],
    ['/^v\\d+$/', '"v1"', '"w1"', false],
  ])('%s of %s and %s: %s', (matcher, before, after, accepted) => {
    expect(parseMatcher(matcher).accepts(before, after)).toBe(accepted)
  })

  it('is suggested where it is plain what two values are', () => {
    expect(suggestMatcher('"2026-01-01T00:00:00Z"', '"2027-01-01T00:00:00Z"')).toBe('timestamp')
    expect(suggestMatcher('"took 12ms"', '"took 1.5 s"')).toBe('duration')
    expect(suggestMatcher('1', '2')).toBeUndefined()
    expect(suggestMatcher('"a"', '"b"')).toBeUndefined()
  })

  it('with an unknown name is refused', () => {
    expect(() => parseMatcher('tmestamp')).toThrow('has an unknown matcher: tmestamp')
    expect(() => parseMatcher('number~x')).toThrow('has an invalid tolerance')
    expect(() => parseMatcher('/(/')).toThrow('not a regular expression')
  })
})

describe('a compare file', () => {
  it('has a level, rules, and rules for some requests', () => {
    const file = parseSettingsFile(`
level: schema
ignore:
  - $.result._meta
match:
  $.result.at: timestamp
calls:
  - method: tools/call
    name: now
    ignore: ["$.result"]
`)
    expect(file).toMatchObject({
      level: 'schema',
      rules: [
        { path: { text: '$.result._meta' } },
        { path: { text: '$.result.at' }, matcher: { text: 'timestamp' } },
        { path: { text: '$.result' }, only: { method: 'tools/call', name: 'now' } },
      ],
    })
  })

  it('may be empty', () => {
    expect(parseSettingsFile('# nothing yet\n')).toEqual({ rules: [] })
  })

  it.each([
    ['ignore: [$.a', 1, /flow|sequence|\]/i],
    ['level: loose', 1, 'unknown level loose'],
    ['ignore: [foo]', 1, /^foo is not a JSONPath/],
    ['ignore: [$.a, 1]', 1, /^entry 2 of ignore must be a string/],
    ['calls: [1]', 1, /^entry 1 of calls must be a mapping/],
    ['ignore:\n  - $.a\n  - "$.b["', 3, 'is incomplete'],
    ['match:\n  $.a: tmestamp', 2, 'has an unknown matcher'],
    ['\nignored: []', 2, 'unknown member ignored'],
    ['ignore: $.a', 1, 'ignore must be a list'],
    ['- a', 1, 'the file must be a mapping'],
  ])('with a fault is refused with its line: %s', (text, line, message) => {
    const file = parseSettingsFile(text)
    expect(file).toHaveProperty('fault.line', line)
    expect('fault' in file && file.fault.message).toMatch(message)
  })
})
