import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { GateEntry } from '../../src/intercept/index.js'
import { unchanged } from '../../src/intercept/decision.js'
import type { Judgement, Offer } from '../../src/intercept/frame.js'
import { createStdioValve } from '../../src/intercept/stdio-valve.js'

interface Stand {
  readonly written: () => string
  readonly entries: GateEntry[]
  readonly offers: Offer[]
  readonly valve: ReturnType<typeof createStdioValve>
}

function stand(decide: (offer: Offer) => Judgement, atLineStart = true, receivedBytes = 0): Stand {
  const written: Buffer[] = []
  const entries: GateEntry[] = []
  const offers: Offer[] = []
  let sent = 0
  const valve = createStdioValve(
    {
      channel: 'in',
      receivedBytes,
      atLineStart,
      write(bytes) {
        written.push(Buffer.from(bytes))
        return (sent += bytes.length)
      },
      changed: () => undefined,
    },
    {
      offer(offer) {
        offers.push(offer)
        return decide(offer)
      },
      mayConcern: () => true,
      isFull: () => false,
      ledger: { enter: (entry) => void entries.push(entry) },
      answer: () => undefined,
      disconnect: () => undefined,
      unseen: () => undefined,
    },
  )
  return { written: () => Buffer.concat(written).toString('latin1'), entries, offers, valve }
}

function cut(text: string, cuts: readonly number[]): Buffer[] {
  const bytes = Buffer.from(text, 'latin1')
  const places = cuts.map((n) => n % (bytes.length + 1)).toSorted((a, b) => a - b)
  return [0, ...places].map((from, i) => bytes.subarray(from, places[i] ?? bytes.length))
}

const line = fc.oneof(
  fc.integer({ min: 0, max: 99 }).map((id) => `{"jsonrpc":"2.0","id":${id},"method":"ping"}`),
  fc.constantFrom('', 'noise', '[]', '{"a":1}', '\u00ff\u00fe', '  {"jsonrpc":"2.0","method":"n"} '),
)
const lines = fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n')), { maxLength: 12 })
const cuts = fc.array(fc.nat(), { maxLength: 8 })

describe('a valve', () => {
  it('that nobody holds anything at passes the same bytes, however they are cut', () => {
    fc.assert(
      fc.property(lines, fc.constantFrom('', '{"jsonrpc"'), cuts, (all, last, where) => {
        const text = all.map(([words, end]) => words + end).join('') + last
        const { valve, written, entries } = stand(() => undefined)
        for (const chunk of cut(text, where)) valve.push(chunk, 0)
        valve.sourceEnded()
        expect(written()).toBe(text)
        expect(entries).toEqual([])
      }),
    )
  })

  it('names each frame by where it ends, wherever it was put in', () => {
    fc.assert(
      fc.property(lines, cuts, fc.nat(1000), (all, where, before) => {
        const text = all.map(([words, end]) => words + end).join('')
        const { valve, written, entries, offers } = stand(
          () => ({ ...unchanged, verdict: 'hold', id: 'x' }),
          true,
          before,
        )
        for (const chunk of cut(text, where)) valve.push(chunk, 0)
        const ends: number[] = []
        let at = before
        let passed = ''
        for (const [words, end] of all) {
          at += words.length + end.length
          if (words.trim().startsWith('{')) ends.push(at)
          else passed += words + end
        }
        expect(entries).toMatchObject(ends.map((endOffset) => ({ kind: 'judge', place: { endOffset } })))
        expect(written()).toBe(passed)
        expect(valve.isHolding).toBe(ends.length > 0)
        // Held messages go on byte for byte, with their line end.
        for (const [i, { settle }] of offers.entries()) settle(`${i}`, unchanged, 1)
        const held = all.filter(([words]) => words.trim().startsWith('{'))
        expect(written()).toBe(passed + held.map(([words, end]) => words + end).join(''))
        expect(valve.isHolding).toBe(false)
      }),
    )
  })

  it('finishes a frame that had begun to pass, and sends what is ours after it', () => {
    const { valve, written, offers } = stand(() => ({ ...unchanged, verdict: 'hold', id: 'x' }), false)
    valve.inject('{"ours":1}', { id: 'i' })
    expect(written()).toBe('')
    valve.push(Buffer.from('method":"ping"}\n{"jsonrpc":"2.0","method":"n"}\n'), 0)
    expect(written()).toBe('method":"ping"}\n{"ours":1}\n')
    expect(offers).toHaveLength(1)
  })

  it('keeps the line end of a message that goes on in another form', () => {
    const { valve, written, offers, entries } = stand(() => ({ ...unchanged, verdict: 'hold', id: 'x' }))
    valve.push(Buffer.from('{"jsonrpc":"2.0","method":"n"}\r\n'), 0)
    const decision = { ...unchanged, text: '{"m":"å"}', rule: 'r' }
    offers[0]!.settle('x', decision, 5)
    expect(Buffer.from(written(), 'latin1').toString()).toBe('{"m":"å"}\r\n')
    expect(entries[1]).toEqual({
      kind: 'settle',
      id: 'x',
      decision,
      heldMs: 5,
      sent: { sizeBytes: 12, endOffset: 12 },
    })
  })
})
