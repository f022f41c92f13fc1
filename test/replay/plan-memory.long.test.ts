import { describe, expect, it } from 'vitest'
import { decodeLine } from '../../src/formats/index.js'
import type { TapeRecord } from '../../src/model/index.js'
import { planReplay } from '../../src/replay/index.js'
import type { OpenRecords } from '../../src/tape/index.js'
import { heldByObjects } from '../model/heap.js'

const calls = 40_000

describe('the plan of a long replay', () => {
  it('holds no object for a message: numbers in columns only', async () => {
    // A first run, so that code and caches are loaded before memory is measured.
    await planReplay(recorded(2_000), 'short', () => undefined)
    const before = heldByObjects()
    const plan = await planReplay(recorded(calls), 'long', () => undefined)
    const perMessage = (heldByObjects() - before) / (2 * calls)
    expect(plan.messages).toBe(calls)
    expect(perMessage).toBeLessThan(60)
  })
})

/** Calls and their answers, made when they are read. */
function recorded(count: number): Pick<OpenRecords, 'records' | 'read'> {
  function recordAt(locator: number): TapeRecord {
    const t = '2026-08-01T10:00:00.000Z'
    const id = Math.ceil(locator / 2)
    const raw =
      locator % 2 === 1
        ? { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'get', arguments: { id } } }
        : { jsonrpc: '2.0', id, result: { content: [] } }
    const line =
      locator === 0
        ? { v: 1, type: 'meta', startedAt: t, label: 'x', command: [] }
        : { t, us: locator * 50, dir: locator % 2 === 1 ? 'in' : 'out', raw }
    const decoded = decodeLine(JSON.stringify(line))
    if ('fault' in decoded) throw new Error(decoded.fault.message)
    return decoded.record
  }
  return {
    async *records() {
      for (let locator = 0; locator <= 2 * count; locator += 1) {
        // Lets others run, as a file does.
        if (locator % 1_000 === 0) await new Promise((done) => setImmediate(done))
        yield { record: recordAt(locator), locator }
      }
    },
    read: (locator) => Promise.resolve(recordAt(locator)),
  }
}
