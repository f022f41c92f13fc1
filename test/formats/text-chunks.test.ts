import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { textChunks, type Piece } from '../../src/formats/text-chunks.js'

async function* given(pieces: readonly Piece[]): AsyncGenerator<Piece> {
  yield* pieces
}

/** The file's content after each chunk was written while the next one was made. */
async function inTurn(pieces: readonly Piece[]): Promise<{ bytes: Buffer; memories: number }> {
  const memories = new Set<ArrayBufferLike>()
  const written: Buffer[] = []
  let writing: Uint8Array | undefined
  for await (const chunk of textChunks(given(pieces), { takesInTurn: true })) {
    if (writing) written.push(Buffer.from(writing))
    writing = chunk
    memories.add(chunk.buffer)
  }
  if (writing) written.push(Buffer.from(writing))
  return { bytes: Buffer.concat(written), memories: memories.size }
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

  it('needs memory for two chunks only, for who takes them in turn', async () => {
    const pieces = Array.from({ length: 3_000 }, (_, i) => `${i} é "quoted" ${'x'.repeat((i * 7) % 900)}`)
    const { bytes, memories } = await inTurn(pieces)
    expect(bytes.toString() === pieces.join('')).toBe(true)
    expect(bytes.length).toBeGreaterThan(5 << 18)
    expect(memories).toBe(2)
    const mixed = [...pieces, 'y'.repeat(400_000), ...pieces, { quoted: '"'.repeat(90_000) }, ...pieces]
    const text = mixed.map((one) => (typeof one === 'string' ? one : one.quoted.repeat(2))).join('')
    expect((await inTurn(mixed)).bytes.toString() === text).toBe(true)
  })

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
