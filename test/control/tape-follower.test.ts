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

/** Reads all available lines. */
async function readAll(follower: TapeFollower, into: string[]): Promise<number> {
  let left = 0
  for (;;) {
    const followed = await follower.next()
    if (followed.kind === 'gap') {
      left += followed.lines
      continue
    }
    if (followed.kind === 'deleted') {
      into.push('deleted')
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

describe('followers of a tape', () => {
  it('share one reader and get each line of it, however long, from segment to segment', async () => {
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
    'get the number of lines that they missed when they fall behind, %s, and go on with the next',
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
      // A follower that began at the start counts the lines that it read.
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

  it('get a notice when segments were deleted before they were read, and go on with the oldest one left', async () => {
    const tell = (segment: number): void => {
      end = { segment, sizeBytes: statSync(path(segment)).size, lines: 2 }
      view.grew()
    }
    const write = (segment: number): void => {
      writeFileSync(path(segment), `{"type":"meta"}\n{"seq":${segment}}\n`)
      if (segment >= 2) rmSync(path(segment - 2))
    }
    write(0)
    tell(0)
    const follower = createTapeFollower(view, 0)
    const got: string[] = []
    await readAll(follower, got)
    for (let segment = 1; segment <= 30; segment += 1) write(segment)
    tell(30)
    await readAll(follower, got)
    const meta = '{"type":"meta"}'
    expect(got).toEqual([meta, '{"seq":0}', 'deleted', meta, '{"seq":29}', meta, '{"seq":30}'])
    for (let segment = 31; segment <= 60; segment += 1) {
      write(segment)
      tell(segment)
      await readAll(follower, got)
    }
    expect(got.filter((line) => line === 'deleted')).toHaveLength(1)
    expect(got.at(-1)).toBe('{"seq":60}')
    const from: string[] = []
    await readAll(createTapeFollower(view, 0), from)
    expect(from.slice(0, 3)).toEqual(['deleted', meta, '{"seq":59}'])
    const now: string[] = []
    await readAll(createTapeFollower(view, 'now'), now)
    expect(now).toEqual([meta])
  })

  it('may begin now, in the middle of a line', async () => {
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
