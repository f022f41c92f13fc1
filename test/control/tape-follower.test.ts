import { appendFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { TapeSource } from '../../src/control/host.js'
import { createTapeFollower, type TapeFollower } from '../../src/control/tape-follower.js'
import { createTapeView, type TapeView } from '../../src/control/tape-view.js'

let folder: string
let view: TapeView
let end: ReturnType<TapeSource['end']>
const path = (segment: number): string => join(folder, `tape.${segment}.jsonl`)
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'wiretape-follow-'))
  end = undefined
  view = createTapeView({ segmentPath: path, end: () => end })
})
afterEach(async () => {
  await view.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Reads to the end of what there is. */
async function readAll(follower: TapeFollower, into: string[]): Promise<number> {
  let left = 0
  for (;;) {
    const followed = await follower.next()
    if (followed.kind === 'gap') {
      left += followed.lines
      continue
    }
    into.push(...followed.lines.map((line) => line.toString()))
    followed.release()
    if (followed.end) return left
  }
}

function append(segment: number, lines: readonly string[]): void {
  appendFileSync(path(segment), lines.map((line) => `${line}\n`).join(''))
  view.grew()
}

describe('those who follow a tape', () => {
  it('read it once for all and get each line of it, however long, from segment to segment', async () => {
    const written: string[] = []
    const add = (segment: number, sizes: readonly number[]): void => {
      const lines = sizes.map((size) => `{"seq":${written.length},"x":"${'x'.repeat(size)}"}`)
      written.push(...lines)
      append(segment, lines)
    }
    writeFileSync(path(0), '')
    const followers = [0, 0, 0].map((start) => ({
      follower: createTapeFollower(view, start),
      got: [] as string[],
    }))
    add(0, [10, 300_000, 5])
    await Promise.all(followers.slice(0, 2).map(({ follower, got }) => readAll(follower, got)))
    add(0, [700_000, 1, 2, 512 * 1024, 3])
    await readAll(followers[0]!.follower, followers[0]!.got)
    writeFileSync(path(1), '')
    add(1, [7, 100_000, 1_500_000])
    for (let n = 0; n < 20; n += 1) add(1, [n * 50_000])
    await Promise.all(followers.map(({ follower, got }) => readAll(follower, got)))
    for (const { got } of followers) expect(got).toEqual(written)
  })

  it.each([
    ['as the recorder counted them', true],
    ['as they count them', false],
  ])(
    'hear how many lines were left out when they fall behind, %s, and go on with the next',
    async (_, told) => {
      const tell = (lines: number): void => {
        end = told ? { segment: 0, sizeBytes: statSync(path(0)).size, lines } : undefined
      }
      writeFileSync(path(0), '{"type":"meta"}\n')
      tell(1)
      const follower = createTapeFollower(view, 'now')
      const got: string[] = []
      await readAll(follower, got)
      const line = 'y'.repeat(99_999)
      append(
        0,
        Array.from({ length: 200 }, () => line),
      )
      tell(201)
      // One that began at the start has counted what it got.
      const other = createTapeFollower(view, 0)
      const first = await other.next()
      if (first.kind === 'lines') first.release()
      expect(await readAll(follower, got)).toBe(200)
      append(0, ['{"seq":200}'])
      tell(202)
      expect(await readAll(follower, got)).toBe(0)
      expect(got).toEqual(['{"type":"meta"}', '{"seq":200}'])
      await readAll(other, [])
      append(
        0,
        Array.from({ length: 200 }, () => line),
      )
      tell(402)
      const behind = [await readAll(follower, got), await readAll(other, [])]
      expect(behind).toEqual([200, 200])
    },
  )

  it('may be told to begin now, in the middle of a line', async () => {
    writeFileSync(path(0), '{"type":"meta"}\n{"seq":0,')
    const follower = createTapeFollower(view, 'now')
    const got: string[] = []
    await readAll(follower, got)
    appendFileSync(path(0), '"x":1}\n{"seq":1}\n')
    view.grew()
    await readAll(follower, got)
    expect(got).toEqual(['{"type":"meta"}', '{"seq":1}'])
  })
})
