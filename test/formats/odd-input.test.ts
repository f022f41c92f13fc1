/** The same recording in every readable format, as odd editors and transports leave it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formats } from '../../src/formats/index.js'
import { openRecording } from '../../src/tape/index.js'
import { sessions } from './codec-sessions.js'
import { adopted, read, spoken, throughTape, write } from './codec-stage.js'

const readable = formats.filter((format) => 'read' in format).map(({ id }) => id)
const overHttp = new Set(['streamable-http', 'http-sse', 'har'])

let folder = ''
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'wiretape-odd-'))))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function sampleOf(id: string): Promise<string> {
  const [records] = fc.sample(sessions({ http: overHttp.has(id), batches: false }), { numRuns: 1, seed: 11 })
  return (await write(id, await adopted(records!))).text
}

describe('a document that breaks off before anything is understood', () => {
  it.each([
    ['inspector', '[{"jsonrpc":"2.0","id":1,'],
    ['inspector', '{"events":[{"method"'],
    ['streamable-http', '{"transport":"streamable-http","entries":[{"request":{"jsonrpc"'],
    ['http-sse', '{"transport":"http-sse","entries":[5]}'],
  ])('is refused as %s: %s', async (id, text) => {
    await expect(read(id, text)).rejects.toThrow('no MCP message found')
  })

  it.each([
    ['inspector', '[]'],
    ['streamable-http', '{"transport":"streamable-http","entries":[]}'],
  ])('is not one without messages: %s, %s', async (id, text) => {
    expect((await read(id, text)).records.map(({ type }) => type)).toEqual(['meta', 'end'])
  })
})

describe.each(readable)('%s', (id) => {
  it('with a byte order mark is read like one without, and the mark is reported', async () => {
    const text = await sampleOf(id)
    const plain = await read(id, text)
    const marked = await read(id, `\ufeff${text}`)
    expect(throughTape(marked.records)).toEqual(throughTape(plain.records))
    expect(plain.records.length).toBeGreaterThan(2)
    expect(plain.said).toEqual([])
    expect(marked.said).toEqual([expect.stringMatching(/starts with a byte order mark/)])
  })

  it('with line ends of Windows has the same content', async () => {
    const text = await sampleOf(id)
    const plain = await read(id, text)
    const windows = await read(id, text.replaceAll('\n', '\r\n'))
    expect(await spoken(windows.records)).toEqual(await spoken(plain.records))
    expect(windows.said).toEqual([])
  })

  it('as UTF-16 is refused by name, in either order and with or without its mark', async () => {
    const path = join(folder, `${id}.utf16`)
    for (const mark of ['', '\ufeff']) {
      const little = Buffer.from(mark + (await sampleOf(id)), 'utf16le')
      for (const bytes of [little, Buffer.from(little).swap16()]) {
        writeFileSync(path, bytes)
        await expect(openRecording(path, id)).rejects.toThrow('is UTF-16: recordings are UTF-8')
        await expect(openRecording(path)).rejects.toThrow('is UTF-16: recordings are UTF-8')
      }
    }
  })

  it('that is empty, or white space, or binary is refused or empty, never more', async () => {
    for (const bytes of [
      Buffer.alloc(0),
      Buffer.from(' \n\r\n\t'),
      Buffer.alloc(5000),
      Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * 7919) % 251)),
    ]) {
      const outcome = await read(id, bytes).then(
        ({ records }) => records.filter(({ type }) => type !== 'meta' && type !== 'end').length,
        (error: Error) => error.name,
      )
      expect([0, 'WiretapeError']).toContain(outcome)
    }
  })

  it('as deep as can be, at every place of a message, is read or refused', async () => {
    const text = await sampleOf(id)
    const deep = `${'['.repeat(60_000)}${']'.repeat(60_000)}`
    const place = text.indexOf('"jsonrpc"') === -1 ? text.indexOf('\\"jsonrpc\\"') : text.indexOf('"jsonrpc"')
    const quote = text[place] === '\\' ? '\\"' : '"'
    const bomb = `${text.slice(0, place)}${quote}x${quote}:${deep},${text.slice(place)}`
    const records = await read(id, bomb).then(
      (found) => found.records,
      (error: Error) => {
        expect(error.name).toBe('WiretapeError')
        return []
      },
    )
    throughTape(records)
    for (const other of formats) if (other.write) await write(other.id, records)
  })
})
