import { spawnSync } from 'node:child_process'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { joinCommandLine, splitCommandLine } from '../../src/model/index.js'
import { runs } from '../long.js'
import { textsOf } from '../random-text.js'

/** The words that a shell makes of each line; undefined where it finds no end. */
function wordsOf(lines: readonly string[]): (string[] | undefined)[] {
  return lines.map((line) => {
    const { status, stdout } = spawnSync('sh', ['-c', `printf '%s\\0' x ${line}`], { encoding: 'utf8' })
    return status === 0 ? stdout.split('\0').slice(1, -1) : undefined
  })
}

describe('a command line', () => {
  it.each<[string, string[]]>([
    ['', []],
    [' \t\n ', []],
    ['python -m my_server', ['python', '-m', 'my_server']],
    ['python server.py --flag "a b"', ['python', 'server.py', '--flag', 'a b']],
    [`a'b c'"d e"f`, ['ab cd ef']],
    [`'' "" x`, ['', '', 'x']],
    [`'a\\b"c'`, ['a\\b"c']],
    ['"a\\b\\"\\\\\\$\\`\\\n"', ['a\\b"\\$`']],
    ['a\\ b \\"c\\"', ['a b', '"c"']],
    ['a\\\nb \\\n c', ['ab', 'c']],
    ['$HOME *.js a|b #x', ['$HOME', '*.js', 'a|b', '#x']],
    ['\u00a0\u3000\r', ['\u00a0\u3000\r']],
  ])('%j is these words', (line, words) => {
    expect(splitCommandLine(line)).toEqual({ words })
  })

  it.each([
    ["a 'b", "the ' at column 3 is not closed"],
    ['a "b\\"', 'the " at column 3 is not closed'],
    ['a "b\\', 'the " at column 3 is not closed'],
    ['"', 'the " at column 1 is not closed'],
    ['a\\', 'the last character is a backslash'],
  ])('%j is none: %s', (line, fault) => {
    expect(splitCommandLine(line)).toEqual({ fault })
  })

  /** A line break outside of quotes begins another command there, and here it is white space. */
  it.each(['a\\\nb', '"a\\\nb"', "'a\nb'", '"a\nb" c', 'a \\\n b', "'a\\\nb'"])(
    '%j is cut as by a shell',
    (line) => {
      expect(splitCommandLine(line)).toEqual({ words: wordsOf([line])[0] })
    },
  )

  it('without anything that a shell would replace is cut as by a shell', () => {
    const quoting = ['\\"', "''", '" "', '\\$', '"\\$"', '"\\a"', '"\\`"']
    const line = textsOf('ab€😀 \t.,:=/@%+-_^~\'"\\', quoting, { maxLength: 12 })
    fc.assert(
      fc.property(line, (text) => {
        const split = splitCommandLine(text)
        // Text that a shell replaces, and a backslash at the end, which a shell removes.
        fc.pre(!/(?<!\\)(?:\\\\)*[$`]|(?:^|[\s=:])~/.test(text))
        fc.pre(!('fault' in split && split.fault === 'the last character is a backslash'))
        const [words] = wordsOf([text])
        expect(split).toEqual(words ? { words } : { fault: expect.any(String) })
      }),
      { numRuns: runs(400) },
    )
  })
})

describe('words put together', () => {
  const word = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('a', ' ', "'", '"', '\\', '$', '`', '*', '\n', '~', '#', '!', '=') }),
    fc.constantFrom('', '-', '~', '*', "it's", '\\', '\ud800'),
  )

  it('are cut into the same words', () => {
    fc.assert(
      fc.property(fc.array(word), (words) => {
        expect(splitCommandLine(joinCommandLine(words))).toEqual({ words })
      }),
      { numRuns: runs(1000) },
    )
  })

  it('are the same words to a shell', () => {
    const usable = word.filter((text) => !text.includes('\0') && !/\p{Surrogate}/u.test(text))
    fc.assert(
      fc.property(fc.array(usable, { maxLength: 5 }), (words) => {
        expect(wordsOf([joinCommandLine(words)])).toEqual([words])
      }),
      { numRuns: runs(200) },
    )
  })

  it('stand as they are where nothing in them needs a quote', () => {
    expect(joinCommandLine(['npx', '-y', '@scope/server@1.2', '--dir=/home/me', 'a,b:c+d%'])).toBe(
      'npx -y @scope/server@1.2 --dir=/home/me a,b:c+d%',
    )
    expect(joinCommandLine(['', "it's", 'a b', 'é'])).toBe(`'' 'it'\\''s' 'a b' 'é'`)
  })
})
