import { spawnSync } from 'node:child_process'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { joinCommandLine, splitCommandLine } from '../../src/model/index.js'
import { runs } from '../long.js'
import { textsOf } from '../random-text.js'

/** One shell takes all lines: each is read in a part of it that may fail. */
const script = `
words() { printf '%s\\0' "$#" "$@"; }
for line do (eval "words $line") 2>/dev/null || printf '%s\\0' none; done`

/** The words that a shell makes of each line; undefined where it finds no end. */
function wordsOf(lines: readonly string[]): (string[] | undefined)[] {
  const { stdout } = spawnSync('sh', ['-c', script, 'sh', ...lines], { encoding: 'utf8' })
  const parts = stdout.split('\0')
  return lines.map(() => {
    const count = parts.shift()
    return count === 'none' ? undefined : parts.splice(0, Number(count))
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
    const asked = line.filter((text) => {
      const split = splitCommandLine(text)
      // Text that a shell replaces, and a backslash at the end, which a shell removes.
      const isReplaced = /(?<!\\)(?:\\\\)*[$`]|(?:^|[\s=:])~/.test(text)
      return !isReplaced && !('fault' in split && split.fault === 'the last character is a backslash')
    })
    fc.assert(
      fc.property(fc.array(asked, { minLength: 1, maxLength: 40 }), (texts) => {
        const found = wordsOf(texts).map((words) => (words ? { words } : { fault: expect.any(String) }))
        expect(texts.map((text) => splitCommandLine(text))).toEqual(found)
      }),
      { numRuns: runs(40) },
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
      fc.property(fc.array(fc.array(usable, { maxLength: 5 }), { minLength: 1, maxLength: 40 }), (lists) => {
        expect(wordsOf(lists.map((words) => joinCommandLine(words)))).toEqual(lists)
      }),
      { numRuns: runs(40) },
    )
  })

  it('stand as they are where nothing in them needs a quote', () => {
    expect(joinCommandLine(['npx', '-y', '@scope/server@1.2', '--dir=/home/me', 'a,b:c+d%'])).toBe(
      'npx -y @scope/server@1.2 --dir=/home/me a,b:c+d%',
    )
    expect(joinCommandLine(['', "it's", 'a b', 'é'])).toBe(`'' 'it'\\''s' 'a b' 'é'`)
  })
})
