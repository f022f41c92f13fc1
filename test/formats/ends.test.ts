import { describe, expect, it } from 'vitest'
import type { FileInput, Recording } from '../../src/formats/format.js'
import type { TapeRecord } from '../../src/model/index.js'
import { isLong } from '../long.js'
import { formatOf } from './codec-stage.js'
import { chunksOf, toBytes } from './session-json-stage.js'

const filler = 'x'.repeat(36_000)
const messages = Array.from({ length: 60 }, (_, i) =>
  [
    `"jsonrpc":"2.0","id":${i},"method":"tools/call","params":{"name":"a","arguments":{"q":"${filler}"}}}`,
    `"jsonrpc":"2.0","id":${i},"result":{"content":[{"type":"text","text":"é${filler}"}]}}`,
  ].map((rest) => ({ rest, dir: rest.includes('method') ? 'in' : 'out' })),
).flat()

/** @param times milliseconds of those messages that say when they were */
function jsonrpc(times: (i: number) => number | undefined = () => undefined): string {
  const line = ({ rest }: { rest: string }, i: number): string => {
    const ms = times(i)
    return `{${ms === undefined ? '' : `"timestamp_ms":${ms},`}${rest}\n`
  }
  return messages.map(line).join('')
}

const at = (i: number): string => new Date(Date.UTC(2026, 7, 1) + i).toISOString()
const tapeMeta = `{"v":1,"type":"meta","startedAt":"${at(0)}","label":"x","command":["y"]`
const ownMeta = `${tapeMeta},"wiretape":{"version":"1","session":"2f1c6c0e-7b0d-4b57-9d0c-3f0f5b8f6f01","transport":"stdio","url":null,"segment":0,"redaction":"none","metadata":{}}`
const tapeEnd = `{"t":"${at(999)}","type":"end","exitCode":0,"durationMs":999}\n`

function tape(meta: string, named: boolean, end: string): string {
  const lines = messages.map(({ rest, dir }, i) => {
    const name = named ? `,"id":"message-${i}","seq":${i},"us":${i * 1000}` : ''
    return `{"t":"${at(i)}","dir":"${dir}","raw":{${rest}${name}}\n`
  })
  return `${meta}}\n${lines.join('')}${end}`
}

/** The session file of a recording, the number of passes over its records, and the known facts about its ends. */
async function session(
  id: string,
  text: string,
  withEnds: boolean,
): Promise<{ text: string; passes: number; told: boolean }> {
  const bytes = toBytes(text)
  const file: FileInput = {
    sizeBytes: bytes.length,
    bytes: (from, to) => chunksOf(bytes.subarray(from, to), [70_001]),
    holds: (chunk, text) => Buffer.from(chunk).includes(text),
  }
  const ends = await formatOf(id).readEnds!(file)
  let passes = 0
  const recording: Recording = {
    records(): AsyncIterable<TapeRecord> {
      passes += 1
      return formatOf(id).read!({ bytes: () => chunksOf(bytes, [100_000, 300_000]) }, () => undefined)
    },
    ...(withEnds && { ends: () => Promise.resolve(ends) }),
  }
  const parts: Uint8Array[] = []
  for await (const chunk of formatOf('session-json').write!(recording, () => undefined)) parts.push(chunk)
  return { text: Buffer.concat(parts).toString(), passes, told: ends !== undefined }
}

const day = Date.UTC(2026, 7, 1)
const short = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n'

describe('a session file', () => {
  it.each([
    ['messages without times', 'jsonrpc', jsonrpc()],
    ['messages that say when they were', 'jsonrpc', jsonrpc((i) => day + i)],
    ['a tape of another recorder', 'trace-v1', tape(tapeMeta, false, tapeEnd)],
    ['a tape of ours', 'trace-v1', tape(ownMeta, true, tapeEnd)],
    ['a tape without its end', 'trace-v1', tape(ownMeta, true, '')],
  ])('of %s is made in one pass, and the same as in two', async (_, id, text) => {
    const quick = await session(id, text, true)
    expect(quick).toMatchObject({ passes: 1, told: true })
    expect(quick.text === (await session(id, text, false)).text).toBe(true)
  })

  it.each([
    ['one message that says when it was, in the middle', jsonrpc((i) => (i === 60 ? day : undefined))],
    [
      'the same by an escaped name',
      jsonrpc((i) => (i === 60 ? day : undefined)).replace('"timestamp_', '"\\u0074imestamp_'),
    ],
    ['times at its start only', jsonrpc((i) => (i < 3 ? day + i : undefined))],
    ['times at its end only', jsonrpc((i) => (i > 110 ? day + i : undefined))],
    ['an end that is broken', `${jsonrpc()}{"jsonrpc":`],
    ['an end that is no UTF-8', `${jsonrpc()}"\u0000\n`],
    ['a few messages', short],
  ])('of messages with %s is made in two passes', async (_, text) => {
    const careful = await session('jsonrpc', text, true)
    expect(careful).toMatchObject({ passes: 2, told: false })
    expect(careful.text === (await session('jsonrpc', text, false)).text).toBe(true)
  })

  it.each(['"timestamp', String.raw`"\u0074imestamp`])(
    'does not miss %s in the middle, wherever chunks end',
    async (sign) => {
      const bytes = toBytes(jsonrpc((i) => (i === 60 ? day : undefined)).replace('"timestamp', sign))
      const at = Buffer.from(bytes).indexOf(sign)
      expect(at).toBeGreaterThan(0)
      for (let k = -1; k <= sign.length + 1; k += 1) {
        const allCuts = [[at + k], [at + k, at + k + 1], [at + k, at + k + 2, at + k + 3]]
        for (const cuts of isLong ? allCuts : [allCuts[(k + 1) % 3]!]) {
          const file: FileInput = {
            sizeBytes: bytes.length,
            bytes: (from, to) =>
              chunksOf(
                bytes.subarray(from, to),
                cuts.map((cut) => cut - from),
              ),
            holds: (chunk, text) => Buffer.from(chunk).includes(text),
          }
          expect(await formatOf('jsonrpc').readEnds!(file)).toBeUndefined()
        }
      }
    },
  )

  it.each([
    ['lost its start', tape(ownMeta, true, tapeEnd).replace(/^.*\n/, ''), true],
    ['has nothing that ours have', tape(ownMeta, false, tapeEnd), true],
    ['is cut off', tape(ownMeta, true, '').slice(0, -9), false],
  ])('of a tape that %s is made in two passes', async (_, text, told) => {
    const careful = await session('trace-v1', text, true)
    expect(careful).toMatchObject({ passes: 2, told })
    expect(careful.text === (await session('trace-v1', text, false)).text).toBe(true)
  })
})
