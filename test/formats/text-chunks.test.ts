import { describe, expect, it } from 'vitest'
import { textChunks } from '../../src/formats/text-chunks.js'

async function* given(pieces: readonly string[]): AsyncGenerator<string> {
  yield* pieces
}

async function bytesOf(...pieces: string[]): Promise<{ bytes: Buffer; longest: number }> {
  const chunks: Uint8Array[] = []
  for await (const chunk of textChunks(given(pieces))) chunks.push(chunk)
  return { bytes: Buffer.concat(chunks), longest: Math.max(...chunks.map(({ length }) => length)) }
}

describe('a text in chunks', () => {
  it.each(['', 'x', 'xy'])(
    'is the same bytes however long a piece is, pairs of surrogates too (after "%s")',
    async (before) => {
      const long = `${before}${'😀'.repeat(1_200_000)}é\ud800`
      const { bytes, longest } = await bytesOf('a', long, 'b\u2028')
      expect(bytes.equals(Buffer.from(`a${long}b\u2028`))).toBe(true)
      expect(longest).toBeLessThan(4 << 20)
    },
  )
})
