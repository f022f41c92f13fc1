import type { ServerResponse } from 'node:http'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createEventLog } from '../../src/link/server/event-log.js'
import { EventStream } from '../../src/link/server/event-stream.js'

/** The part of a response that a stream needs: it is written to, ended, and may close. */
function connection(): { response: ServerResponse; texts(): string[]; close(): void; ended: boolean } {
  let written = ''
  let onClose = (): void => undefined
  const own = {
    ended: false,
    response: {
      destroyed: false,
      writeHead: () => undefined,
      flushHeaders: () => undefined,
      write: (text: string, taken?: () => void) => ((written += text), taken?.(), true),
      end: () => void (own.ended = true),
      once: (event: string, listener: () => void) => void (event === 'close' && (onClose = listener)),
    } as unknown as ServerResponse,
    texts: () => [...written.matchAll(/^data: (.+)$/gm)].map(([, text]) => text!),
    close: () => onClose(),
  }
  return own
}

const streamOf = (log = createEventLog(1_000, 1_000), onForgotten = (): void => undefined): EventStream =>
  new EventStream({
    name: 7,
    log,
    onSlow: () => undefined,
    onCut: () => undefined,
    onUnheard: () => undefined,
    onForgotten,
  })

describe('an event stream', () => {
  it('goes on where its client says that it broke, whatever was lost on the way', () => {
    const lengths = fc.array(fc.nat(5), { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(lengths, fc.infiniteStream(fc.nat(5)), (counts, losses) => {
        const stream = streamOf()
        const got: string[] = []
        let said = 0
        for (const count of counts) {
          const open = connection()
          stream.open(open.response, { after: got.length })
          for (let n = 0; n < count; n += 1) stream.message(String((said += 1)))
          open.close()
          // A message that was sent meanwhile.
          stream.message(String((said += 1)))
          const arrived = open.texts()
          got.push(...arrived.slice(0, Math.max(0, arrived.length - losses.next().value)))
        }
        const last = connection()
        stream.open(last.response, { after: got.length })
        got.push(...last.texts())
        expect(got).toEqual(Array.from({ length: said }, (_, n) => String(n + 1)))
      }),
    )
  })

  it('tells what no client got, once, when it is over or must make room', () => {
    const unheard: string[] = []
    const stream = new EventStream({
      name: 7,
      log: createEventLog(1_000, 2),
      onSlow: () => undefined,
      onCut: () => undefined,
      onUnheard: (text) => unheard.push(text),
    })
    const open = connection()
    stream.open(open.response)
    stream.message('1')
    open.close()
    for (const text of ['2', '3', '4', '5']) stream.message(text)
    expect(unheard).toEqual(['2', '3'])
    stream.end()
    stream.forget()
    stream.forget()
    expect(unheard).toEqual(['2', '3', '4', '5'])
  })

  it('sends what waited to a client that knows of nothing, once', () => {
    const stream = streamOf()
    stream.message('1')
    const [first, second] = [connection(), connection()]
    stream.open(first.response)
    first.close()
    stream.message('2')
    stream.open(second.response)
    expect([first.texts(), second.texts()]).toEqual([['1'], ['2']])
  })

  it('has one connection, the newest', () => {
    const stream = streamOf()
    const [first, second] = [connection(), connection()]
    stream.open(first.response)
    stream.open(second.response)
    first.close()
    stream.message('1')
    expect([first.ended, first.texts(), second.texts(), stream.isOpen]).toEqual([true, [], ['1'], true])
  })

  it('may be asked for after its end, as long as there is room for what it said', () => {
    const log = createEventLog(3, 1_000)
    let forgotten = 0
    const stream = streamOf(log, () => (forgotten += 1))
    for (const text of ['1', '2', '3']) stream.message(text)
    stream.end()
    const late = connection()
    stream.open(late.response, { after: 1 })
    expect([late.texts(), late.ended, forgotten]).toEqual([['2', '3'], true, 0])
    const other = streamOf(log)
    other.message('4')
    expect([0, 1, 2, 3, 4].map((after) => stream.hasAllAfter(after))).toEqual([
      false,
      true,
      true,
      true,
      false,
    ])
    other.message('56')
    expect([2, 3].map((after) => stream.hasAllAfter(after))).toEqual([false, true])
    expect(forgotten).toBe(1)
    expect(other.hasAllAfter(0)).toBe(true)
  })

  it('keeps no more events than there may be, and none that are not needed any more', () => {
    const log = createEventLog(1_000, 2)
    const [one, other] = [streamOf(log), streamOf(log)]
    one.message('1')
    one.forget()
    for (const text of ['2', '3']) other.message(text)
    expect(other.hasAllAfter(0)).toBe(true)
    other.message('4')
    expect([other.hasAllAfter(0), other.hasAllAfter(1)]).toEqual([false, true])
  })
})
