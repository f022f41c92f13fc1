import * as zlib from 'node:zlib'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { packingOf, unpack, type Packing } from '../../src/cli/unpack/index.js'
import { createZstdFrames } from '../../src/cli/unpack/zstd-frames.js'

const zstd = zlib as { zstdCompressSync?(bytes: Uint8Array): Buffer }
const hasZstd = zstd.zstdCompressSync !== undefined
if (!hasZstd) console.log('left out: unpacking zstd, which this Node cannot')

async function* cutAt(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length]
  for (let i = 1; i < places.length; i += 1) yield bytes.subarray(places[i - 1], places[i])
}

async function unpacked(
  packing: Packing,
  bytes: Uint8Array,
  cuts: readonly number[] = [],
): Promise<{ text: string; faults: string[] }> {
  const faults: string[] = []
  const parts: Uint8Array[] = []
  for await (const part of unpack(packing, cutAt(bytes, cuts), (fault) => faults.push(fault)))
    parts.push(part)
  return { text: Buffer.concat(parts).toString('latin1'), faults }
}

const cutsArbitrary = fc.array(fc.nat(10_000), { maxLength: 8 })
const parts = fc.array(fc.string({ maxLength: 80 }), { minLength: 1, maxLength: 5 })
const joined = (bytes: readonly Uint8Array[]): Buffer => Buffer.concat(bytes)
const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1')

describe.each([
  { packing: 'gzip' as const, pack: (bytes: Uint8Array): Buffer => zlib.gzipSync(bytes), can: true },
  {
    packing: 'zstd' as const,
    pack: (bytes: Uint8Array): Buffer => zstd.zstdCompressSync!(bytes),
    can: hasZstd,
  },
])('what is packed with $packing', ({ packing, pack, can }) => {
  const packedParts = (texts: readonly string[]): Buffer => joined(texts.map((text) => pack(latin1(text))))

  it.runIf(can)('is read whole, however many pieces were joined and however the bytes come', async () => {
    await fc.assert(
      fc.asyncProperty(parts, cutsArbitrary, async (texts, cuts) => {
        const packed = packedParts(texts)
        expect(packingOf(packed)).toBe(packing)
        expect(await unpacked(packing, packed, cuts)).toEqual({
          text: latin1(texts.join('')).toString('latin1'),
          faults: [],
        })
      }),
      { numRuns: 60 },
    )
  })

  it.runIf(can)('is read as far as it goes when it is cut off, which is said', async () => {
    const texts = ['first piece\n', 'second piece, a bit longer\n']
    const packed = packedParts(texts)
    const between = pack(latin1(texts[0]!)).length
    for (let length = 1; length < packed.length; length += 1) {
      const { text, faults } = await unpacked(packing, packed.subarray(0, length), [length >> 1])
      expect(texts.join('').startsWith(text)).toBe(true)
      expect(faults).toEqual(length === between ? [] : ['cut'])
      if (length >= between) expect(text.startsWith(texts[0]!)).toBe(true)
    }
  })

  it.runIf(can)('keeps everything before something else that follows, which is said', async () => {
    await fc.assert(
      fc.asyncProperty(parts, cutsArbitrary, async (texts, cuts) => {
        const packed = packedParts(texts)
        const more = joined([packed, latin1('\0more'), packed])
        const text = latin1(texts.join('')).toString('latin1')
        expect(await unpacked(packing, more, cuts)).toEqual({ text, faults: ['rest'] })
      }),
      { numRuns: 30 },
    )
  })
})

describe('gzip', () => {
  it('is refused when it is damaged, unless the damage is where nothing depends on it', async () => {
    const text = 'some text that is packed, and packed, and packed again'
    const packed = zlib.gzipSync(latin1(text))
    for (let at = 3; at < packed.length; at += 1) {
      const damaged = Buffer.from(packed)
      damaged[at]! ^= 0x55
      const outcome = await unpacked('gzip', damaged).then(
        (result) => (result.faults.length > 0 ? 'said' : result.text),
        (error: Error) => error.name,
      )
      // Time, level and system stand in bytes 4 to 9.
      expect(outcome).toBe(at > 3 && at < 10 ? text : 'UnpackError')
    }
  })

  it('may be padded with zeros', async () => {
    const packed = joined([zlib.gzipSync('a'), Buffer.alloc(600)])
    expect(await unpacked('gzip', packed, [30, 40])).toEqual({ text: 'a', faults: [] })
  })

  it('may have a name, a comment, extra fields and a check sum in its header', async () => {
    const plain = zlib.gzipSync('a')
    const head = Buffer.from(plain.subarray(0, 10))
    head[3] = 2 | 4 | 8 | 16
    const fields = latin1('\x03\x00xyzname.jsonl\0comment\0\x12\x34')
    const member = joined([head, fields, plain.subarray(10)])
    for (let cut = 0; cut < member.length; cut += 1) {
      expect(await unpacked('gzip', joined([member, member]), [cut])).toEqual({ text: 'aa', faults: [] })
    }
  })

  it('of zeros costs no memory worth the name', async () => {
    const packed = zlib.gzipSync(Buffer.alloc(50 << 20))
    let size = 0
    let largest = 0
    for await (const part of unpack('gzip', cutAt(packed, []), () => undefined)) {
      size += part.length
      largest = Math.max(largest, part.length)
    }
    expect(size).toBe(50 << 20)
    expect(largest).toBeLessThan(1 << 20)
  })
})

describe('frames of zstd', () => {
  /** A block as it stands, or one byte many times. */
  const block = (content: string, last: boolean, repeats: boolean): Buffer => {
    const size = content.length
    const head = (size << 3) | (repeats ? 2 : 0) | (last ? 1 : 0)
    return joined([
      Buffer.from([head & 255, (head >> 8) & 255, head >> 16]),
      latin1(repeats ? content.slice(0, 1) : content),
    ])
  }
  const frame = fc
    .record({
      contents: fc.array(fc.string({ minLength: 1, maxLength: 20, unit: 'binary-ascii' }), { maxLength: 3 }),
      repeats: fc.boolean(),
      sum: fc.boolean(),
      sizeFlag: fc.nat(3),
      single: fc.boolean(),
      dictionary: fc.nat(3),
    })
    .map(({ contents, repeats, sum, sizeFlag, single, dictionary }) => {
      const descriptor = (sizeFlag << 6) | (single ? 32 : 0) | (sum ? 4 : 0) | dictionary
      const header = (single ? 0 : 1) + [0, 1, 2, 4][dictionary]! + [single ? 1 : 0, 2, 4, 8][sizeFlag]!
      return joined([
        Buffer.from([0x28, 0xb5, 0x2f, 0xfd, descriptor]),
        Buffer.alloc(header, 0xfd),
        ...contents.map((content) => block(content, false, repeats)),
        block('', true, false),
        Buffer.alloc(sum ? 4 : 0, 0x28),
      ])
    })
  const skippable = fc
    .tuple(fc.nat(15), fc.string({ maxLength: 20, unit: 'binary-ascii' }))
    .map(([kind, content]) =>
      joined([Buffer.from([0x50 + kind, 0x2a, 0x4d, 0x18, content.length, 0, 0, 0]), latin1(content)]),
    )
  const file = fc.array(
    fc.oneof(
      frame.map((bytes) => ({ bytes, skipped: false })),
      skippable.map((bytes) => ({ bytes, skipped: true })),
    ),
    { minLength: 1, maxLength: 5 },
  )

  async function framesIn(
    bytes: Uint8Array,
    cuts: readonly number[],
  ): Promise<{ frames: string[]; end: string }> {
    const frames: string[] = []
    const cutter = createZstdFrames()
    let open: Uint8Array[] = []
    for await (const chunk of cutAt(bytes, cuts)) {
      for (const piece of cutter.push(chunk)) {
        open.push(Buffer.from(piece.bytes))
        if (!piece.last) continue
        frames.push(joined(open).toString('hex'))
        open = []
      }
    }
    return { frames, end: cutter.end() }
  }

  it('are told apart, those that are to be skipped are left out', async () => {
    await fc.assert(
      fc.asyncProperty(file, cutsArbitrary, async (pieces, cuts) => {
        const bytes = joined(pieces.map((piece) => piece.bytes))
        const frames = pieces.flatMap((piece) => (piece.skipped ? [] : [piece.bytes.toString('hex')]))
        expect(await framesIn(bytes, cuts)).toEqual({ frames, end: 'whole' })
        expect(await framesIn(joined([bytes, latin1('something else')]), cuts)).toEqual({
          frames,
          end: 'rest',
        })
      }),
      { numRuns: 100 },
    )
  })

  it('are known to be cut off, wherever that is', async () => {
    await fc.assert(
      fc.asyncProperty(file, async (pieces) => {
        const bytes = joined(pieces.map((piece) => piece.bytes))
        const ends = new Set<number>([0])
        let at = 0
        for (const piece of pieces) ends.add((at += piece.bytes.length))
        for (let length = 0; length <= bytes.length; length += 1) {
          const { end } = await framesIn(bytes.subarray(0, length), [length >> 1])
          expect(end).toBe(ends.has(length) ? 'whole' : 'cut')
        }
      }),
      { numRuns: 20 },
    )
  })

  it.runIf(hasZstd)('are read after one that is to be skipped', async () => {
    const skip = Buffer.from([0x5f, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3])
    const packed = joined([
      skip,
      zstd.zstdCompressSync!(latin1('a')),
      skip,
      zstd.zstdCompressSync!(latin1('b')),
      skip,
    ])
    expect(packingOf(packed)).toBe('zstd')
    expect(await unpacked('zstd', packed)).toEqual({ text: 'ab', faults: [] })
  })
})
