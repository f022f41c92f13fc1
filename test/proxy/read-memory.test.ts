import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BatchFiller, buffersOf, type ChunkBatch } from '../../src/proxy/chunk-batch.js'
import { PooledMemory } from '../../src/proxy/read-memory.js'
import { RegionPool } from '../../src/proxy/region-pool.js'

const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ read: fc.integer({ min: 1, max: 65_536 }), isOwn: fc.boolean() }) },
    { weight: 2, arbitrary: fc.constantFrom('written', 'handed over', 'recorded') },
  ),
  { minLength: 50, maxLength: 200 },
)

describe('memory that bytes are read into', () => {
  it('keeps bytes unchanged until they are written and recorded, and hands them over in order', () => {
    fc.assert(
      fc.property(steps, (given) => {
        const pool = new RegionPool()
        const memory = new PooledMemory(pool)
        const filler = new BatchFiller(pool)
        let room = memory.room()
        let next = 0
        let expected = 0
        const writing: { chunk: Buffer; byte: number }[] = []
        const batches: ChunkBatch[] = []
        const isOf = (bytes: Uint8Array, byte: number): boolean =>
          Buffer.from(bytes).equals(Buffer.alloc(bytes.length, byte))
        const written = (): void => {
          const one = writing.shift()
          if (!one) return
          expect(isOf(one.chunk, one.byte)).toBe(true)
          memory.release(one.chunk)
        }
        const hand = (): void => {
          if (!filler.isEmpty) batches.push(filler.take())
        }
        const recorded = (): void => {
          const batch = batches.shift()
          if (!batch) return
          let at = 0
          for (let i = 3; i < batch.marks.length; i += 4) {
            const length = batch.marks[i]!
            expect(isOf(batch.regions.in!.subarray(at, at + length), expected++ % 251)).toBe(true)
            at += length
          }
          expect(batch.regions.in).toHaveLength(at)
          pool.giveBack(buffersOf(batch))
        }
        for (const step of given) {
          if (step === 'written') written()
          else if (step === 'handed over') hand()
          else if (step === 'recorded') recorded()
          else {
            const byte = next++ % 251
            let chunk: Buffer = Buffer.alloc(step.read, byte)
            if (step.isOwn) {
              chunk = room.fill(byte, 0, step.read).subarray(0, step.read)
              memory.filled(step.read)
            }
            memory.keep(chunk)
            writing.push({ chunk, byte })
            if (!filler.fits('in', chunk)) hand()
            filler.add('in', chunk, 0, 0)
            room = memory.room()
          }
        }
        hand()
        while (writing.length > 0) written()
        while (batches.length > 0) recorded()
        expect(expected).toBe(next)
      }),
    )
  })
})
