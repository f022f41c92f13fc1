import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { lentBytes } from '../../src/tape/index.js'

const folder = mkdtempSync(join(tmpdir(), 'wiretape-lent-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const bytes = Buffer.from(Array.from({ length: 1_000_003 }, (_, i) => (i * 7 + (i >> 8)) % 256))
const path = join(folder, 'file')
writeFileSync(path, bytes)

/** Each chunk is copied while it is good. */
async function read(to: number, from?: number): Promise<{ all: Buffer; memories: number }> {
  const parts: Buffer[] = []
  const memories = new Set<ArrayBufferLike>()
  for await (const chunk of lentBytes(path, to, from)) {
    parts.push(Buffer.from(chunk))
    memories.add(chunk.buffer)
  }
  return { all: Buffer.concat(parts), memories: memories.size }
}

describe('bytes that are lent', () => {
  it('are those of the file, in the memory of two chunks', async () => {
    const { all, memories } = await read(bytes.length)
    expect(all.equals(bytes)).toBe(true)
    expect(memories).toBe(2)
  })

  it.each([
    [0, 0],
    [0, 1],
    [5, 6],
    [262_143, 262_145],
    [0, 262_144],
    [17, 1_000_003],
    [999_000, 1_000_003],
    [10, 5],
  ])('are those from %d to %d', async (from, to) => {
    expect((await read(to, from)).all.equals(bytes.subarray(from, Math.max(from, to)))).toBe(true)
  })

  it('end where the file ends', async () => {
    expect((await read(bytes.length + 1_000_000)).all.equals(bytes)).toBe(true)
  })

  it('end early for who has enough, and for a file that is cut meanwhile', async () => {
    for await (const chunk of lentBytes(path, bytes.length)) {
      expect(chunk[0]).toBe(bytes[0])
      break
    }
    const cut = join(folder, 'cut')
    writeFileSync(cut, bytes)
    let size = 0
    for await (const chunk of lentBytes(cut, bytes.length)) {
      if (size === 0) truncateSync(cut, 100)
      size += chunk.length
    }
    expect(size).toBeLessThan(bytes.length)
  })

  it('of a file that is not there name it', async () => {
    const missing = join(folder, 'missing')
    const reading = (async () => {
      for await (const chunk of lentBytes(missing, 10)) expect(chunk).toBeUndefined()
    })()
    await expect(reading).rejects.toThrow(`cannot read ${missing}: no such file`)
  })
})
