import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { textChunks, type Piece } from '../../src/formats/text-chunks.js'

async function* given(pieces: readonly Piece[]): AsyncGenerator<Piece> {
  yield* pieces
}

async function bytesOf(...pieces: Piece[]): Promise<{ bytes: Buffer; longest: number }> {
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

  it('has every quote twice in what is quoted, whatever stands around it', async () => {
    const text = fc.oneof(
      fc.string({ unit: fc.constantFrom('"', 'a', ',', '\n') }),
      fc.string({ unit: fc.constantFrom('"', 'x'.repeat(90), 'é', '😀') }),
    )
    const piece = fc.oneof(
      text,
      text.map((quoted) => ({ quoted })),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(piece), async (pieces) => {
        const expected = pieces.map((one) =>
          typeof one === 'string' ? one : one.quoted.replaceAll('"', '""'),
        )
        expect((await bytesOf(...pieces)).bytes.toString()).toBe(expected.join(''))
      }),
    )
    const long = `"é${'"abc'.repeat(80_000)}😀"`
    expect((await bytesOf('x', { quoted: long }, 'y')).bytes.toString()).toBe(
      `x${long.replaceAll('"', '""')}y`,
    )
    const many = Array.from({ length: 40 }, (_, i) => ({ quoted: '"'.repeat(i * 300) }))
    expect((await bytesOf(...many)).bytes.toString()).toBe('"'.repeat(40 * 39 * 300))
  })
})
