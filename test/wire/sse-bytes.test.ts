import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SseParser, type SseEvent } from '../../src/wire/index.js'
import { parse, toBytes } from './sse-stage.js'
import { runs } from '../long.js'

/** Bytes that are mostly fields, comments and line ends of every kind. */
const streamBytes = fc
  .tuple(
    fc.constantFrom<number[]>([], [0xef, 0xbb, 0xbf], [0xef, 0xbb], [0xef]),
    fc.array(
      fc.oneof(
        {
          weight: 4,
          arbitrary: fc
            .constantFrom(
              '\n',
              '\r\n',
              '\r',
              '\n\n',
              '\r\n\r\n',
              '\r\r',
              'data: {}',
              'id:1',
              'event: message',
            )
            .map(toBytes),
        },
        fc
          .constantFrom(':', 'data', 'data:', ' ', 'retry:10', 'retry', 'é', '\ufeff', 'id:\0', 'x:y')
          .map(toBytes),
        fc.uint8Array({ maxLength: 6 }),
      ),
      { maxLength: 40 },
    ),
  )
  .map(([mark, parts]) => Uint8Array.from([...mark, ...parts.flatMap((part) => [...part])]))

const cutStream = fc.tuple(streamBytes, fc.array(fc.nat(), { maxLength: 12 }), fc.boolean())

function cut(bytes: Uint8Array, positions: readonly number[], everyByte: boolean): Uint8Array[] {
  const inside = positions.map((at) => at % (bytes.length + 1)).toSorted((a, b) => a - b)
  const cuts = everyByte ? Array.from(bytes.keys()) : inside
  return [0, ...cuts].map((start, index) => bytes.slice(start, cuts[index] ?? bytes.length))
}

/** The dispatched events, by the letter of WHATWG HTML 9.2.6 and on the whole text at once. */
function dispatched(bytes: Uint8Array): object[] {
  const text = new TextDecoder().decode(bytes)
  const lines = text.split(/\r\n|\n|\r/)
  // Text after the last line end is no line.
  lines.pop()
  const events: object[] = []
  let data = ''
  let event = ''
  let lastEventId = ''
  for (const line of lines) {
    if (line === '') {
      if (data !== '') events.push({ data: data.slice(0, -1), event, lastEventId })
      data = ''
      event = ''
      continue
    }
    const [, field, value = ''] = /^([^:]*)(?:: ?([^]*))?$/.exec(line)!
    if (field === 'data') data += `${value}\n`
    if (field === 'event') event = value
    if (field === 'id' && !value.includes('\0')) lastEventId = value
  }
  return events
}

/** The same from the events of the parser. */
function fromEvents(events: readonly SseEvent[]): object[] {
  let lastEventId = ''
  return events.flatMap(({ complete, id, data, event = '' }) => {
    if (!complete) return []
    lastEventId = id ?? lastEventId
    return data === undefined ? [] : [{ data, event, lastEventId }]
  })
}

describe('memory', () => {
  it('holds no event that is too long, and goes on after it', () => {
    const parser = new SseParser({ maxBytes: 20 })
    expect(parser.push(toBytes('data: short\n\ndata: '))).toMatchObject([{ data: 'short' }])
    for (let n = 0; n < 1000; n += 1) expect(parser.push(toBytes('data: long\r\n'))).toEqual([])
    expect(parser.push(toBytes('\r'))).toEqual([])
    expect(parser.push(toBytes('\ndata: next\n\n'))).toEqual([
      { tooLong: true, sizeBytes: 12_006, endOffset: 12_021, complete: true },
      { data: 'next', sizeBytes: 11, endOffset: 12_033, complete: true },
    ])
    expect(parser.push(toBytes('id: 1\ndata: longer than that'))).toEqual([])
    expect(parser.end()).toEqual([{ tooLong: true, sizeBytes: 28, endOffset: 12_061, complete: false }])
  })

  it('takes an event of exactly the limit', () => {
    expect(parse(['data: abcd\n\n'], 11)).toMatchObject([{ data: 'abcd', sizeBytes: 11 }])
    expect(parse(['data: abcd\n\n'], 10)).toMatchObject([{ tooLong: true, sizeBytes: 11 }])
    expect(parse(['data: abcd', '\n', '\n'], 10)).toMatchObject([{ tooLong: true, sizeBytes: 11 }])
  })

  it('lists a thousand comments and ignored lines, and counts the rest', () => {
    const [event] = parse([':\nx\n'.repeat(900), 'data: a\n\n'])
    expect(event).toMatchObject({ data: 'a', unlisted: 800 })
    expect(event?.comments).toHaveLength(500)
    expect(event?.ignored).toHaveLength(500)
  })

  it('keeps what it was given, chunk by chunk', () => {
    const data = 'x'.repeat(300_000)
    const bytes = toBytes(`data: ${data}\n\n`)
    const chunks: Uint8Array[] = []
    for (let at = 0; at < bytes.length; at += 7) chunks.push(bytes.slice(at, at + 7))
    expect(parse(chunks)[0]?.data).toBe(data)
  })
})

describe('any bytes', () => {
  it('give the same events however they are cut', () => {
    fc.assert(
      fc.property(cutStream, fc.option(fc.nat({ max: 30 })), ([bytes, positions, everyByte], limit) => {
        const maxBytes = limit ?? 1_000_000
        const whole = parse([bytes], maxBytes)
        expect(parse(cut(bytes, positions, everyByte), maxBytes)).toEqual(whole)
        const offsets = whole.map(({ endOffset }) => endOffset)
        expect(offsets).toEqual([...new Set(offsets)].toSorted((a, b) => a - b))
        for (const { sizeBytes, tooLong } of whole) expect(sizeBytes > maxBytes).toBe(tooLong === true)
      }),
      { numRuns: runs(1000) },
    )
  })

  it('give what the standard dispatches', () => {
    fc.assert(
      fc.property(streamBytes, (bytes) => {
        expect(fromEvents(parse([bytes]))).toEqual(dispatched(bytes))
      }),
      { numRuns: runs(1000) },
    )
  })

  it('are known to be whole by where their events end', () => {
    fc.assert(
      fc.property(streamBytes, (bytes) => {
        const events = parse([bytes]).filter(({ complete }) => complete)
        for (const [i, event] of events.entries()) {
          const before = parse([bytes.slice(0, event.endOffset)])
          expect(before).toEqual(events.slice(0, i + 1))
        }
      }),
      { numRuns: runs(300) },
    )
  })
})
