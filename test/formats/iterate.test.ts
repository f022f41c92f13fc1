import { describe, expect, it } from 'vitest'
import { attended, chained, flatMapped, inBatches, just, mapped } from '../../src/formats/iterate.js'

const twice = (n: number): number[] => [n, n]

/** The elements, one by one or by batches, and the error that ends the iteration. */
async function taken<T>(elements: AsyncIterable<T>, byBatches: boolean): Promise<unknown[]> {
  const all: unknown[] = []
  try {
    if (byBatches)
      for await (const batch of inBatches(elements)) for (const element of batch) all.push(element)
    else for await (const element of elements) all.push(element)
  } catch (error) {
    all.push((error as Error).message)
  }
  return all
}

describe.each([
  ['one by one', false],
  ['by batches', true],
])('elements taken %s', (_, byBatches) => {
  it('are those of each source, changed in order, with what comes at the end', async () => {
    let ends = 0
    const source = (): AsyncIterable<number> => just([1, 2, 3])
    const changed = attended(
      mapped(
        flatMapped(chained([source, () => just([]), source]), twice, () => [9]),
        (n) => n * 10,
      ),
      { ended: () => (ends += 1) },
    )
    expect(await taken(changed, byBatches)).toEqual([10, 10, 20, 20, 30, 30, 10, 10, 20, 20, 30, 30, 90])
    expect(ends).toBe(1)
  })

  it('come up to the one that fails; the source is closed, and the error may be made a better one', async () => {
    let closed = 0
    async function* source(): AsyncGenerator<number> {
      try {
        yield* [1, 2, 3, 4]
      } finally {
        closed += 1
      }
    }
    const failing = flatMapped(flatMapped(source(), twice), (n) => {
      if (n === 3) throw new Error('three')
      return [n]
    })
    const watched = attended(failing, {
      ended: () => undefined,
      failed: (error) => new Error(`in a file: ${(error as Error).message}`),
    })
    expect(
      await taken(
        mapped(watched, (n) => n),
        byBatches,
      ),
    ).toEqual([1, 1, 2, 2, 'in a file: three'])
    expect(closed).toBe(1)
  })

  it('that nobody wants any more close their source', async () => {
    let closed = 0
    async function* source(): AsyncGenerator<number> {
      try {
        yield* [1, 2, 3]
      } finally {
        closed += 1
      }
    }
    const elements = chained([() => mapped(source(), (n) => n), () => source()])
    if (byBatches) for await (const _batch of inBatches(elements)) break
    else for await (const _element of elements) break
    expect(closed).toBe(1)
  })
})
