import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LineFramer, type LineFrame } from '../../src/wire/index.js'
import { runs } from '../long.js'

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Plain and easy to read: a line as text, a piece as text with ~ before what goes on and ! before the end. */
function show(frame: LineFrame): string {
  const text = decoder.decode(frame.bytes)
  if (frame.kind === 'piece') return (frame.last ? '!' : '~') + text
  return `${text}<${frame.end}>`
}

function frame(chunks: readonly (string | Uint8Array)[], maxBytes = 1000): string[] {
  return frames(chunks, maxBytes).map(show)
}

function frames(chunks: readonly (string | Uint8Array)[], maxBytes = 1000): LineFrame[] {
  const framer = new LineFramer({ maxBytes })
  const pushed = chunks.flatMap((chunk) =>
    framer.push(typeof chunk === 'string' ? encoder.encode(chunk) : chunk),
  )
  return [...pushed, ...framer.end()]
}

/** Bytes that are mostly line ends and short words. */
const wireBytes = fc
  .array(
    fc.oneof(
      fc.constantFrom('\n', '\r\n', '\r', '\r\r\n', '{}', 'a').map((text) => encoder.encode(text)),
      fc.uint8Array({ maxLength: 20 }),
    ),
    { maxLength: 30 },
  )
  .map((parts) => Uint8Array.from(parts.flatMap((part) => [...part])))

const cutBytes = fc.tuple(wireBytes, fc.array(fc.nat(), { maxLength: 12 }), fc.boolean())

function cut(bytes: Uint8Array, positions: readonly number[], everyByte: boolean): Uint8Array[] {
  const inside = positions.map((at) => at % (bytes.length + 1)).toSorted((a, b) => a - b)
  const cuts = everyByte ? Array.from(bytes.keys()) : inside
  return [0, ...cuts].map((start, index) => bytes.slice(start, cuts[index] ?? bytes.length))
}

/** Frames with the pieces of each overlong line joined, for comparing different cuts. */
function joined(
  all: readonly LineFrame[],
): { kind: string; bytes: number[]; end: string; endOffset: number }[] {
  const result: { kind: string; bytes: number[]; end: string; endOffset: number }[] = []
  let pieces: number[] = []
  for (const item of all) {
    if (item.kind === 'line') {
      result.push({ kind: 'line', bytes: [...item.bytes], end: item.end, endOffset: item.endOffset })
    } else {
      pieces.push(...item.bytes)
      if (!item.last) continue
      result.push({ kind: 'overlong', bytes: pieces, end: '', endOffset: item.endOffset })
      pieces = []
    }
  }
  expect(pieces).toEqual([])
  return result
}

describe('lines', () => {
  it('end with LF or CR LF, and the last one with nothing', () => {
    expect(frame(['a\nb\r\nc'])).toEqual(['a<lf>', 'b<crlf>', 'c<none>'])
    expect(frame(['a\n'])).toEqual(['a<lf>'])
    expect(frame([''])).toEqual([])
  })

  it('may be blank', () => {
    expect(frame(['\n\r\n\n'])).toEqual(['<lf>', '<crlf>', '<lf>'])
  })

  it('keep every CR but the one before LF', () => {
    expect(frame(['a\rb\r\r\n\rc\r'])).toEqual(['a\rb\r<crlf>', '\rc\r<none>'])
  })

  it('join a CR with its LF across chunks', () => {
    expect(frame(['a\r', '\nb', '\r', '\n', '\r', 'c'])).toEqual(['a<crlf>', 'b<crlf>', '\rc<none>'])
  })

  it('say where in the stream they ended', () => {
    expect(frames(['ab\n', 'c\r', '\n\nd']).map((item) => item.endOffset)).toEqual([3, 6, 7, 8])
  })

  it('are the same however the bytes are cut, and give the bytes back', () => {
    fc.assert(
      fc.property(cutBytes, ([bytes, positions, everyByte]) => {
        const whole = frames([bytes])
        expect(joined(frames(cut(bytes, positions, everyByte)))).toEqual(joined(whole))
        const terminators = { lf: [10], crlf: [13, 10], none: [] }
        const back = whole.flatMap((item) =>
          item.kind === 'line' ? [...item.bytes, ...terminators[item.end]] : [],
        )
        expect(back).toEqual([...bytes])
        let offset = 0
        for (const item of whole) {
          if (item.kind === 'line') offset += item.bytes.length + terminators[item.end].length
          expect(item.endOffset).toBe(offset)
        }
      }),
      { numRuns: runs(500) },
    )
  })

  it('are views of their chunk when they lie inside it', () => {
    const chunk = encoder.encode('first\nsecond\r\nthi')
    const framer = new LineFramer({ maxBytes: 1000 })
    for (const item of framer.push(chunk)) expect(item.bytes.buffer).toBe(chunk.buffer)
    const [third] = framer.push(encoder.encode('rd\n'))
    expect(third && show(third)).toBe('third<lf>')
  })
})

describe('memory', () => {
  it('holds small ends of large chunks as copies, so that no chunk is kept alive for them', () => {
    const framer = new LineFramer({ maxBytes: 10_000_000 })
    const chunk = new Uint8Array(100_000).fill(97)
    chunk[90_000] = 10
    framer.push(chunk)
    expect(framer.pendingBytes).toBe(9_999)
    // Writing into the chunk shows whether a view was kept. No other code may write into it.
    chunk.fill(98)
    const [line] = framer.push(Uint8Array.of(10))
    expect(line?.bytes).toEqual(new Uint8Array(9_999).fill(97))
  })

  it('joins a long line from chunks of every size', () => {
    const framer = new LineFramer({ maxBytes: 10_000_000 })
    const parts: Uint8Array[] = []
    const sizes = [1, 1, 600, 65_536, 3, 5_000, 70_000, 1, 100_000, 4_096, 512, 64, 200_000, 1, 1]
    for (const [index, size] of sizes.entries()) {
      const chunk = new Uint8Array(size + 20).fill(97 + index).subarray(10, 10 + size)
      parts.push(chunk)
      expect(framer.push(chunk)).toEqual([])
    }
    const expected = Uint8Array.from(parts.flatMap((part) => [...part]))
    expect(framer.pendingBytes).toBe(expected.length)
    const [line] = framer.push(Uint8Array.of(10))
    expect(line && Buffer.compare(line.bytes, expected)).toBe(0)
    expect(framer.pendingBytes).toBe(0)
  })

  it('never changes a line it has handed out', () => {
    const framer = new LineFramer({ maxBytes: 1000 })
    const texts = Array.from({ length: 50 }, (_, index) => 'x'.repeat(index) + index)
    const lines = texts.flatMap((text) => [
      ...framer.push(encoder.encode(text)),
      ...framer.push(encoder.encode('\n')),
    ])
    expect(lines.map(show)).toEqual(texts.map((text) => `${text}<lf>`))
  })
})

describe('overlong lines', () => {
  it('come in pieces as soon as they are too long', () => {
    const framer = new LineFramer({ maxBytes: 4 })
    const push = (text: string): string[] => framer.push(encoder.encode(text)).map(show)
    expect(push('ok\nabcd')).toEqual(['ok<lf>'])
    expect(framer.pendingBytes).toBe(4)
    expect(push('e')).toEqual(['~abcd', '~e'])
    expect(framer.pendingBytes).toBe(0)
    expect(push('fgh')).toEqual(['~fgh'])
    expect(push('i\nabcd\nlonger\n')).toEqual(['!i', 'abcd<lf>', '!longer'])
  })

  it('do not count or contain their terminator', () => {
    expect(frame(['abcd\r\n'], 4)).toEqual(['abcd<crlf>'])
    expect(frame(['abcd\r', '\n'], 4)).toEqual(['abcd<crlf>'])
    expect(frame(['abcde\r', '\n'], 4)).toEqual(['~abcde', '!'])
    expect(frame(['abcde\r', '\r', '\n'], 4)).toEqual(['~abcde', '~\r', '!'])
    expect(frame(['abcd\r', 'e\n'], 4)).toEqual(['~abcd\r', '!e'])
    expect(frame(['abcde', '\n'], 4)).toEqual(['~abcde', '!'])
  })

  it('end with the stream', () => {
    expect(frame(['abcdef'], 4)).toEqual(['~abcdef', '!'])
    expect(frame(['abcdef\r'], 4)).toEqual(['~abcdef', '!\r'])
    expect(frame(['abcd\r'], 4)).toEqual(['!abcd\r'])
  })

  it('say where each piece ended', () => {
    const all = frames(['abc', 'def\r', '\ng\n'], 4)
    expect(all.map((item) => [show(item), item.endOffset])).toEqual([
      ['~abc', 3],
      ['~def', 6],
      ['!', 8],
      ['g<lf>', 10],
    ])
  })

  it('are the same bytes however they are cut', () => {
    fc.assert(
      fc.property(cutBytes, fc.nat({ max: 12 }), ([bytes, positions, everyByte], maxBytes) => {
        const whole = joined(frames([bytes], maxBytes))
        const split = frames(cut(bytes, positions, everyByte), maxBytes)
        expect(joined(split)).toEqual(whole)
        expect(split.map((item) => item.endOffset)).toEqual(
          split.map((item) => item.endOffset).toSorted((a, b) => a - b),
        )
        const unlimited = frames([bytes])
        expect(whole.map((item) => item.bytes)).toEqual(unlimited.map((item) => [...item.bytes]))
        expect(whole.map((item) => item.kind)).toEqual(
          unlimited.map((item) => (item.bytes.length > maxBytes ? 'overlong' : 'line')),
        )
      }),
      { numRuns: runs(500) },
    )
  })
})

describe('lost bytes', () => {
  const text = (framer: LineFramer, chunk: string): unknown[] =>
    framer.push(encoder.encode(chunk)).map((item) => [show(item), item.endOffset])

  it('take the partial line with them, up to and with the next LF', () => {
    const framer = new LineFramer({ maxBytes: 100 })
    expect(text(framer, 'a\nbroken')).toEqual([['a<lf>', 2]])
    framer.lose(100, false)
    expect(framer.pendingBytes).toBe(0)
    expect(text(framer, 'rest of something')).toEqual([])
    expect(framer.pendingBytes).toBe(0)
    expect(text(framer, 'end\nb\nc')).toEqual([['b<lf>', 131]])
    expect(framer.end().map(show)).toEqual(['c<none>'])
  })

  it('leave the next line whole when it starts just after them', () => {
    const framer = new LineFramer({ maxBytes: 100 })
    framer.push(encoder.encode('broken'))
    framer.lose(10, true)
    expect(text(framer, 'b\n')).toEqual([['b<lf>', 18]])
  })

  it('end an overlong line without a last piece', () => {
    const framer = new LineFramer({ maxBytes: 4 })
    expect(text(framer, 'abcdef\r')).toEqual([['~abcdef', 6]])
    framer.lose(1, false)
    expect(text(framer, '\nok\n')).toEqual([['ok<lf>', 12]])
  })

  it('leave nothing to hand out at the end of the stream', () => {
    const framer = new LineFramer({ maxBytes: 4 })
    framer.push(encoder.encode('abc'))
    framer.lose(1, false)
    framer.push(encoder.encode('abcdefgh'))
    expect(framer.end()).toEqual([])
    expect(framer.end()).toEqual([])
  })
})
