import { describe, expect, it } from 'vitest'
import { SseParser, reconnectDelayMs } from '../../src/wire/index.js'
import { parse, toBytes } from './sse-stage.js'

/** The lines of the events, without their positions. */
function said(...chunks: (string | Uint8Array)[]): object[] {
  return parse(chunks).map(({ sizeBytes: _, endOffset: __, complete, ...fields }) =>
    complete ? fields : { ...fields, complete },
  )
}

const ends = (...chunks: (string | Uint8Array)[]): number[] => parse(chunks).map(({ endOffset }) => endOffset)

describe('an event', () => {
  it('has the fields of its lines', () => {
    expect(said('event: message\nid: 7\nretry: 1500\ndata: {"a":1}\n\n')).toEqual([
      { event: 'message', id: '7', retry: 1500, data: '{"a":1}' },
    ])
  })

  it('joins its data lines, the empty ones too', () => {
    expect(said('data: a\ndata:\ndata\ndata: b\n\n')).toEqual([{ data: 'a\n\n\nb' }])
  })

  it.each([
    ['data:a', { data: 'a' }],
    ['data: a', { data: 'a' }],
    ['data:  a ', { data: ' a ' }],
    ['data:\ta', { data: '\ta' }],
    ['data: a:b: c', { data: 'a:b: c' }],
    ['data', { data: '' }],
    ['data:', { data: '' }],
    ['data: ', { data: '' }],
    ['event', { event: '' }],
    ['id', { id: '' }],
  ])('has of the line %j the value', (line, fields) => {
    expect(said(`${line}\n\n`)).toEqual([fields])
  })

  it('takes the last event, id and retry', () => {
    expect(said('event: a\nevent: b\nid: 1\nid: 2\nretry: 1\nretry: 2\nretry: x\nid: \0\n\n')).toEqual([
      {
        event: 'b',
        id: '2',
        retry: 2,
        ignored: [
          ['retry', 'x'],
          ['id', '\0'],
        ],
      },
    ])
  })

  it('keeps aside what the standard ignores', () => {
    const lines = ['x: y', 'Data: a', ' data: b', 'data : c', 'id: a\0', 'retry:', 'retry: 1.5', 'retry: ١']
    expect(said(`${lines.join('\n')}\n\n`)).toEqual([
      {
        ignored: [
          ['x', 'y'],
          ['Data', 'a'],
          [' data', 'b'],
          ['data ', 'c'],
          ['id', 'a\0'],
          ['retry', ''],
          ['retry', '1.5'],
          ['retry', '١'],
        ],
      },
    ])
  })

  it('has no retry beyond what a number holds', () => {
    expect(said(`retry: ${'9'.repeat(400)}\n\n`)).toEqual([{ retry: Number.MAX_SAFE_INTEGER }])
  })

  it('may be comments alone, or prime an id', () => {
    expect(said(': keep-alive\n\n:\n:a\n\nid: 1\ndata:\n\nid: 2\n\nretry: 5\n\n')).toEqual([
      { comments: [' keep-alive'] },
      { comments: ['', 'a'] },
      { id: '1', data: '' },
      { id: '2' },
      { retry: 5 },
    ])
  })

  it('is none between blank lines', () => {
    expect(said('\n\r\n\r\r\n\ndata: a\n\n\n\n')).toEqual([{ data: 'a' }])
    expect(said('')).toEqual([])
    expect(said('\ufeff', '\n')).toEqual([])
  })

  it('is incomplete where the stream ends in it', () => {
    expect(said('data: a\n\ndata: b\n')).toEqual([{ data: 'a' }, { data: 'b', complete: false }])
    expect(said('data: a\n\ndata: b')).toEqual([{ data: 'a' }, { data: 'b', complete: false }])
    expect(said('da')).toEqual([{ ignored: [['da', '']], complete: false }])
    expect(parse(['data: a\n\n', 'data: b'])[1]).toMatchObject({ endOffset: 16, sizeBytes: 7 })
  })

  it('comes out once', () => {
    const parser = new SseParser({ maxBytes: 100 })
    parser.push(toBytes('data: a\n'))
    expect(parser.end()).toHaveLength(1)
    expect(parser.end()).toEqual([])
  })
})

describe('lines', () => {
  it('end with LF, CR or CR LF', () => {
    const expected = [{ event: 'e', data: 'a\nb' }, { data: 'c' }]
    for (const end of ['\n', '\r', '\r\n']) {
      expect(said(['event: e', 'data: a', 'data: b', '', 'data: c', '', ''].join(end))).toEqual(expected)
    }
    expect(said('event: e\rdata: a\r\ndata: b\n\rdata: c\r\n\n')).toEqual(expected)
  })

  it('may have their CR LF cut', () => {
    expect(said('data: a\r', '\ndata: b\r', '\n\r', '\ndata: c\r', '\n\r')).toEqual([
      { data: 'a\nb' },
      { data: 'c' },
    ])
  })

  it('of the event before never reach into the next', () => {
    expect(ends('data: a\n\ndata: b\n\n')).toEqual([9, 18])
    expect(ends('data: a\r\n\r\ndata: b\r\n\r\n')).toEqual([11, 22])
    expect(ends('data: a\r\n\r', '\ndata: b\r\n\r')).toEqual([11, 21])
    expect(ends('data: a\r\rdata: b\r\r')).toEqual([9, 18])
    expect(ends('\ufeffdata: a\n\n')).toEqual([12])
  })

  it('that end with CR alone keep no event waiting', () => {
    const parser = new SseParser({ maxBytes: 100 })
    expect(parser.push(toBytes('data: a\r\r'))).toMatchObject([{ data: 'a', endOffset: 9 }])
    expect(parser.push(toBytes('\ndata: b\r\n\r'))).toEqual([])
    expect(parser.push(toBytes('\n'))).toMatchObject([{ data: 'b', sizeBytes: 9, endOffset: 21 }])
  })

  it('are not ended by other line separators', () => {
    expect(said('data: a\u2028b\u0085c\v\f\n\n')).toEqual([{ data: 'a\u2028b\u0085c\v\f' }])
  })
})

describe('text', () => {
  it('may start with a byte order mark, and only once', () => {
    expect(said('\ufeffdata: a\n\n')).toEqual([{ data: 'a' }])
    expect(said(Uint8Array.of(0xef), Uint8Array.of(0xbb), Uint8Array.of(0xbf), 'data: a\n\n')).toEqual([
      { data: 'a' },
    ])
    expect(said('\ufeff\ufeffdata: a\n\n')).toEqual([{ ignored: [['\ufeffdata', 'a']] }])
    expect(said('data: a\n\n\ufeffdata: \ufeffb\n\n')).toEqual([
      { data: 'a' },
      { ignored: [['\ufeffdata', '\ufeffb']] },
    ])
  })

  it('that only begins like a mark is text', () => {
    expect(said(Uint8Array.of(0xef, 0xbb), Uint8Array.of(0x3a, 0x0a, 0x0a))).toEqual([
      { ignored: [['\ufffd', '']], lossy: true },
    ])
    expect(said(Uint8Array.of(0xef, 0xbb))).toEqual([
      { ignored: [['\ufffd', '']], lossy: true, complete: false },
    ])
  })

  it('is lossy where it is not UTF-8', () => {
    expect(said('data: a', Uint8Array.of(0xff), '\n\ndata: b\n\n')).toEqual([
      { data: 'a\ufffd', lossy: true },
      { data: 'b' },
    ])
    expect(said('data: ', Uint8Array.of(0xe2, 0x82), '\ndata: x\n\n')).toEqual([
      { data: '\ufffd\nx', lossy: true },
    ])
  })

  it('may have U+FFFD of its own, and characters cut in two', () => {
    const bytes = toBytes('data: \ufffd€\n\n')
    expect(said(bytes)).toEqual([{ data: '\ufffd€' }])
    for (let at = 0; at < bytes.length; at += 1) {
      expect(said(bytes.slice(0, at), bytes.slice(at))).toEqual([{ data: '\ufffd€' }])
    }
  })
})

describe('the pause before a client opens a broken stream again', () => {
  it.each([
    [undefined, 1_000],
    [0, 10],
    [1_500, 1_500],
    [60_001, 60_000],
    [2 ** 53, 60_000],
  ])('where the server says retry: %s is %i ms', (retry, ms) => {
    const [event] = parse([`retry: ${retry ?? 'soon'}\ndata: 1\n\n`])
    expect(reconnectDelayMs(event?.retry)).toBe(ms)
  })
})
