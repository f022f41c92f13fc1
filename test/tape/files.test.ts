import fs, {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import os from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import type { MetaRecord } from '../../src/model/index.js'
import {
  listTapes,
  openRecording,
  realDisk,
  recoverTape,
  safeLabel,
  segmentPath,
  SegmentFile,
  startTape,
  summarizeTape,
  tapeFileName,
  type Disk,
} from '../../src/tape/index.js'

const root = mkdtempSync(join(os.tmpdir(), 'wiretape-tape-'))
let folder = root
let count = 0
beforeEach(() => {
  folder = join(root, String(count++))
  mkdirSync(folder)
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

const isRoot = process.getuid?.() === 0
const meta: MetaRecord = {
  type: 'meta',
  startedAt: '2026-01-01T00:00:00.000Z',
  label: 'My server!',
  command: ['s'],
}
const metaLine = '{"v":1,"type":"meta","startedAt":"2026-01-01T00:00:00.000Z","label":"l","command":["s"]}\n'
const messageLine = (raw: string): string => `{"t":"2026-01-01T00:00:00.500Z","dir":"in","raw":${raw}}\n`
const endLine = '{"t":"2026-01-01T00:00:01.000Z","type":"end","exitCode":0,"durationMs":1000}\n'

function put(name: string, content: string | Uint8Array): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

describe('starting a tape', () => {
  it('makes a private file in a private folder, with the meta line in it', () => {
    const file = startTape(join(folder, 'new/deeper'), meta)
    file.close()
    expect(basename(file.path)).toBe('2026-01-01T00-00-00-000Z-My-server.jsonl')
    expect(readFileSync(file.path, 'utf8')).toBe(metaLine.replace('"l"', '"My server!"'))
    expect(statSync(file.path).mode & 0o777).toBe(0o600)
    expect(statSync(join(folder, 'new/deeper')).mode & 0o777).toBe(0o700)
  })

  it('twice in the same millisecond makes two files', () => {
    const files = [1, 2, 3].map(() => startTape(folder, meta))
    files.forEach((file) => file.close())
    expect(new Set(files.map(({ path }) => path)).size).toBe(3)
    expect(readdirSync(folder)).toHaveLength(3)
  })

  it('where there can be none says so in one line', () => {
    const path = put('file', '')
    expect(() => startTape(join(path, 'x'), meta)).toThrow(
      expect.objectContaining({
        code: 'unwritable',
        message: expect.stringMatching(/^cannot create a tape in [^\n]+$/),
      }),
    )
  })

  it.each([
    ['server-filesystem', 'server-filesystem'],
    ['a/../../b', 'a-..-..-b'],
    ['..hidden..', 'hidden'],
    ['Ünï çødé', 'U-ni-c-de'],
    ['', 'server'],
    ['日本', 'server'],
    ['x'.repeat(100), 'x'.repeat(64)],
    ['a\u0000b\nc', 'a-b-c'],
  ])('makes the label %j safe', (label, safe) => {
    expect(safeLabel(label).length).toBeLessThanOrEqual(64)
    expect(safeLabel(label)).toMatch(/^[A-Za-z0-9_][A-Za-z0-9._-]*$/)
    if (!/[^\u0000-\u007f]/.test(label) || safe === 'server') expect(safeLabel(label)).toBe(safe)
  })

  it('names segments after the first file', () => {
    expect(tapeFileName(new Date(0), 'l', 1)).toBe('1970-01-01T00-00-00-000Z-l-2.jsonl')
    expect([segmentPath('/a/b.jsonl', 0), segmentPath('/a/b.jsonl', 12)]).toEqual([
      '/a/b.jsonl',
      '/a/b.12.jsonl',
    ])
  })
})

describe('a segment file', () => {
  it('on a real disk stays whole lines, wherever a write breaks off', () => {
    const lines = Buffer.from('{"a":1}\n{"b":"é"}\n{"c":3}\n')
    for (let budget = 0; budget < lines.length; budget += 1) {
      let left = budget
      const failing: Disk = {
        ...realDisk,
        writeSync: ((fd: number, bytes: Uint8Array, from: number, length: number, at: number) => {
          if (left === 0) throw Object.assign(new Error('full'), { code: 'ENOSPC' })
          // One byte at a time, at worst.
          const count = fs.writeSync(fd, bytes, from, Math.min(length, left, 1 + (budget % 5)), at)
          left -= count
          return count
        }) as typeof fs.writeSync,
      }
      const path = join(folder, `${budget}.jsonl`)
      const file = SegmentFile.create(path, failing)
      const failed = file.append(lines)
      const text = readFileSync(path, 'utf8')
      expect(text === '' || text.endsWith('\n')).toBe(true)
      expect(failed?.keptBytes).toBe(Buffer.byteLength(text))
      expect(lines.toString().startsWith(text)).toBe(true)
      left = 1000
      expect(file.append(lines)).toBeUndefined()
      expect(readFileSync(path, 'utf8')).toBe(text + lines.toString())
      expect(file.sizeBytes).toBe(statSync(path).size)
      file.close()
      file.close()
    }
  })

  it('knows when its name is gone', () => {
    const file = SegmentFile.create(join(folder, 'a.jsonl'), realDisk)
    expect(file.isRemoved()).toBe(false)
    rmSync(file.path)
    expect(file.isRemoved()).toBe(true)
    file.close()
  })

  it('never takes over a file that is there', () => {
    const path = put('a.jsonl', 'precious')
    expect(() => SegmentFile.create(path, realDisk)).toThrow(expect.objectContaining({ code: 'EEXIST' }))
    expect(readFileSync(path, 'utf8')).toBe('precious')
  })
})

describe('recovering a tape', () => {
  const odd = messageLine('{ "n" : 1.0 , "n":12345678901234567890}').replace(
    '"dir"',
    ' "x-unknown":[1.50] ,"dir"',
  )
  const foreign = '{"type":"mystery","é":"\\u00e9"}\n'

  it('keeps every whole line byte for byte, drops the torn one and adds an end', async () => {
    const path = put('torn.jsonl', metaLine + odd + foreign + odd.slice(0, 30))
    const target = join(folder, 'out.jsonl')
    const report = await recoverTape(await openRecording(path), target)
    expect(report).toMatchObject({
      written: target,
      messages: 1,
      faults: [{ code: 'torn-line', at: { line: 4 } }],
    })
    const text = readFileSync(target, 'utf8')
    expect(text.startsWith(metaLine + odd + foreign)).toBe(true)
    expect(JSON.parse(text.slice((metaLine + odd + foreign).length))).toEqual({
      t: '2026-01-01T00:00:00.500Z',
      type: 'end',
      exitCode: 1,
      durationMs: 500,
      wiretape: { messages: 1, recovered: true },
    })
    expect(readFileSync(path, 'utf8')).toBe(metaLine + odd + foreign + odd.slice(0, 30))
    expect(readdirSync(folder).toSorted()).toEqual(['out.jsonl', 'torn.jsonl'])
    expect(statSync(target).mode & 0o777).toBe(0o600)
  })

  it('in place replaces it', async () => {
    const path = put('torn.jsonl', metaLine + odd)
    await recoverTape(await openRecording(path), path)
    expect((await recoverTape(await openRecording(path), path)).written).toBeUndefined()
    expect(readdirSync(folder)).toEqual(['torn.jsonl'])
  })

  it('is not touched before the copy is whole, whatever ends the work', async () => {
    const text = metaLine + odd.repeat(3)
    const path = put('torn.jsonl', text)
    const tape = await openRecording(path)
    const seen: string[] = []
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield* tape.bytes(text.length - 20)
      seen.push(readFileSync(path, 'utf8'), ...readdirSync(folder).filter((name) => name !== 'torn.jsonl'))
      throw new Error('gone')
    }
    await expect(recoverTape({ ...tape, bytes: broken }, path)).rejects.toThrow('gone')
    expect(seen).toEqual([text, expect.stringMatching(/^\.torn\.jsonl\.wiretape-.*\.tmp$/)])
    expect(readFileSync(path, 'utf8')).toBe(text)
    expect(readdirSync(folder)).toEqual(['torn.jsonl'])
  })

  it('that is whole writes nothing', async () => {
    const path = put('whole.jsonl', metaLine + odd + endLine)
    const report = await recoverTape(await openRecording(path), join(folder, 'out.jsonl'))
    expect(report).toEqual({ written: undefined, messages: 1, faults: [] })
    expect(readdirSync(folder)).toEqual(['whole.jsonl'])
  })

  it('with garbage inside leaves that out and says where', async () => {
    const path = put('bad.jsonl', `${metaLine}garbage\n${odd}${endLine}`)
    const report = await recoverTape(await openRecording(path), path)
    expect(report.faults).toMatchObject([{ code: 'not-json', at: { line: 2 } }])
    expect(readFileSync(path, 'utf8')).toBe(metaLine + odd + endLine)
  })

  it('onto something that cannot be written leaves everything as it was', async () => {
    const text = metaLine + odd
    const path = put('torn.jsonl', text)
    mkdirSync(join(folder, 'occupied'))
    const tape = await openRecording(path)
    for (const target of [join(folder, 'occupied'), join(path, 'out.jsonl')]) {
      await expect(recoverTape(tape, target)).rejects.toThrow(
        expect.objectContaining({ code: 'unwritable', message: expect.stringContaining(target) }),
      )
    }
    expect(readdirSync(folder).toSorted()).toEqual(['occupied', 'torn.jsonl'])
    expect(readFileSync(path, 'utf8')).toBe(text)
  })

  it('of another version is refused and leaves nothing behind', async () => {
    const path = put('v2.jsonl', metaLine.replace('"v":1', '"v":2') + odd)
    await expect(recoverTape(await openRecording(path), join(folder, 'out.jsonl'))).rejects.toThrow(
      expect.objectContaining({ code: 'unsupported-version' }),
    )
    expect(readdirSync(folder)).toEqual(['v2.jsonl'])
  })
})

describe('opening a recording', () => {
  const refusal = async (path: string): Promise<{ code: string; message: string }> =>
    openRecording(path).then(
      () => ({ code: 'opened', message: '' }),
      (error: { code: string; message: string }) => error,
    )

  it('gives its bytes, as often and as far as wanted', async () => {
    const path = put('a.jsonl', metaLine + endLine)
    const tape = await openRecording(path)
    expect(tape).toMatchObject({ path, sizeBytes: (metaLine + endLine).length, format: { id: 'trace-v1' } })
    for (const to of [undefined, 0, 10, 10_000]) {
      const parts: Uint8Array[] = []
      for await (const chunk of tape.bytes(to)) parts.push(chunk)
      expect(Buffer.concat(parts).toString()).toBe((metaLine + endLine).slice(0, to))
    }
  })

  it.each<[string, () => string, string, RegExp]>([
    ['a folder', () => folder, 'unreadable', /is a folder$/],
    ['a missing file', () => join(folder, 'nope'), 'unreadable', /no such file$/],
    ['an empty file', () => put('e', ''), 'not-a-recording', /is empty$/],
    [
      'a binary file',
      () => put('b', Buffer.from([0, 255, 10, 200, 13, 10])),
      'not-a-recording',
      /not a recording/,
    ],
    [
      'half a JSON',
      () => put('h', '{"menu":{"version":"1.2","items":['),
      'not-a-recording',
      /not a recording/,
    ],
    ['other JSON lines', () => put('j', '{"level":"info"}\n'), 'not-a-recording', /not a recording/],
    ['a device', () => '/dev/null', 'unreadable', /not a regular file$/],
  ])('refuses %s in one line that names it', async (_, make, code, message) => {
    const path = make()
    const error = await refusal(path)
    expect(error.code).toBe(code)
    expect(error.message).toMatch(message)
    expect(error.message).toContain(path)
    expect(error.message).not.toContain('\n')
  })

  it('refuses a file it has no permission for', async (context) => {
    if (isRoot) context.skip('root may read everything')
    const path = put('secret.jsonl', metaLine)
    chmodSync(path, 0)
    expect(await refusal(path)).toMatchObject({
      code: 'unreadable',
      message: expect.stringMatching(/permission denied$/),
    })
  })
})

describe('listing tapes', () => {
  it('reads the first and the last line only, oldest first, and leaves out what is no tape', async () => {
    put('b.jsonl', metaLine.replace('00:00:00.000Z', '00:00:09.000Z') + messageLine('{}') + endLine)
    put('a.jsonl', metaLine + messageLine('{}'))
    put('x.jsonl', 'x')
    put('notes.txt', metaLine)
    mkdirSync(join(folder, 'd.jsonl'))
    const tapes = await listTapes(folder)
    expect(tapes.map(({ path, end }) => [basename(path), end?.exitCode])).toEqual([
      ['a.jsonl', undefined],
      ['b.jsonl', 0],
    ])
    expect(await listTapes(join(folder, 'none'))).toEqual([])
  })

  it('reads a first line of any reasonable length, and a tape that ends in half a line', async () => {
    const long = metaLine.replace('["s"]', JSON.stringify(['x'.repeat(200_000)]))
    const path = put('long.jsonl', `${long}${endLine}{"t":`)
    expect(await summarizeTape(path)).toMatchObject({ path, sizeBytes: statSync(path).size })
    expect(await summarizeTape(path)).not.toHaveProperty('end')
  })
})
