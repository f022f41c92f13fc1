import { describe, expect, it } from 'vitest'
import { lexMarkdown } from '../../viewer/reading/lex-markdown.js'
import { isLong } from '../long.js'

const longest = 20_000
const fill = (part: string, length = longest): string =>
  part.repeat(Math.ceil(length / part.length)).slice(0, length)

describe('Markdown of a peer', () => {
  // Left to itself, the parser takes minutes for some of these: more than a test may.
  it.each(['[', '[a](<b', '**a ', '_a_*', '`a', '![[', '<a ', '[a][', '~~a', 'www.a@', 'a\n-\n', '>a\nb\n'])(
    'is taken apart to its end, however often it says %j',
    (part) => {
      const length = isLong ? longest : longest / 5
      for (const text of [fill(part, length), fill(`${fill(part, 200)}\n\n`, length)]) {
        const tokens = lexMarkdown(text)
        expect(tokens?.map(({ raw }) => raw).join('')).toHaveLength(text.length)
      }
    },
  )

  it('is left as it is written where it is too long or nested too deeply', () => {
    expect(lexMarkdown(fill('a ', longest + 1))).toBeUndefined()
    expect(lexMarkdown(`${'> '.repeat(500)}a`)).toBeUndefined()
    expect(lexMarkdown(`${'- '.repeat(500)}a`)).toBeUndefined()
  })
})
