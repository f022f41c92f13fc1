/** `inspect --fields`, `--format` and `--raw`: columns for other programs, and the bytes of one message. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDataFolder, daysAgo, toolCall } from './data-folder.js'

const data = createDataFolder()
afterAll(() => data.close())

beforeAll(() => {
  data.put('shop.jsonl', {
    label: 'shop',
    at: daysAgo(1),
    asked: [
      toolCall('find', { q: 'tab\there', n: 1 }, 'x', { ms: 250 }),
      toolCall('pay', { q: 'ünï' }, '', { error: { code: -32603, message: 'no' }, result: undefined }),
    ],
  })
})

const inspect = async (...args: string[]): Promise<string> => {
  const { stdout, stderr, code } = await data.run('inspect', ...args)
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
  return stdout
}

describe('inspect --fields', () => {
  const list = 'seq,tool,status,latency,$.params.arguments.q'

  it('prints a table, for a request with the latency of its response', async () => {
    expect(await inspect('--fields', list, '--filter', 'is:request', 'shop')).toBe(
      [
        'seq  tool  status  latency  $.params.arguments.q',
        String.raw`  0  find  ok       250 ms  tab\there`,
        '  2  pay   error    1.0 ms  ünï',
        '',
      ].join('\n'),
    )
  })

  it('prints tab-separated values, with a line of names and one line a row', async () => {
    const lines = (await inspect('--fields', list, '--format', 'tsv', 'shop')).split('\n')
    expect(lines[0]).toBe(list.replaceAll(',', '\t'))
    expect(lines[1]).toBe('0\tfind\tok\t250\ttab\\there')
    expect(lines[2]).toBe('1\tfind\tok\t250\t')
    expect(lines).toHaveLength(6)
  })

  it('prints a JSON object a row, with values as they are on the tape', async () => {
    const path = data.put('exact.jsonl', {
      label: 'exact',
      at: daysAgo(3),
      asked: [toolCall('a', { n: 7 }, '')],
    })
    writeFileSync(path, readFileSync(path, 'utf8').replace('"n":7', '"n":1.00'))
    const out = await inspect(
      '--fields',
      'seq,id,error,$.params.arguments.n,$..n',
      '--format',
      'jsonl',
      'exact',
    )
    expect(out.split('\n')[0]).toBe('{"seq":0,"id":0,"error":null,"$.params.arguments.n":1.00,"$..n":1.00}')
    const [, , , last] = (await inspect('--format', 'jsonl', 'shop')).split('\n')
    expect(JSON.parse(last!)).toMatchObject({ seq: 3, dir: 'out', kind: 'error', name: 'pay', latency: 1 })
  })

  it.each([
    [['--fields', 'sqe'], 'unknown field sqe: did you mean seq? (known fields: seq, time,'],
    [['--fields', ','], '--fields needs a field'],
    [['--fields', '$.['], '--fields: $.[ is not a JSONPath'],
    [['--fields', 'seq', '--json'], '--json and --fields cannot be combined (use one of them)'],
    [['--raw', '1', '--check'], '--check and --raw cannot be combined'],
    [['--raw', '77'], 'no message 77 (inspect shows the numbers)'],
    [['--raw', 'x'], 'Use the number that inspect shows.'],
  ])('refuses %j in one line', async (args, why) => {
    const { code, stdout, stderr } = await data.run('inspect', ...args, 'shop')
    expect({ code, stdout, stderr }).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(why),
    })
    expect(stderr.split('\n')).toHaveLength(2)
  })
})

describe('inspect --raw', () => {
  it('prints the exact text of one message and nothing else', async () => {
    const raw = await inspect('--raw', '0', 'shop')
    expect(readFileSync(join(data.recordings, 'shop.jsonl'), 'utf8')).toContain(`"raw":${raw},`)
    expect(raw.endsWith('}')).toBe(true)
  })

  it('prints the bytes as they were where the tape has them beside the text', async () => {
    const path = data.put('pretty.jsonl', { label: 'pretty', at: daysAgo(4), asked: [toolCall('a', {}, '')] })
    const wire =
      '{ "jsonrpc": "2.0",\r\n "id": 0, "method": "tools/call", "params": {"name":"a","arguments":{}} }'
    const bytes = Buffer.from(wire).toString('base64')
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, text.replace('"seq":0,', `"seq":0,"bytes":"${bytes}",`))
    expect(await inspect('--raw', '0', 'pretty')).toBe(wire)
  })
})
