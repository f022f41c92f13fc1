/** `wiretape search`: the built program over a data folder. */
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDataFolder, daysAgo, expectSchema, toolCall } from './data-folder.js'

const data = createDataFolder()
afterAll(() => data.close())

beforeAll(() => {
  data.put('old.jsonl', {
    label: 'shop',
    at: daysAgo(20),
    asked: [toolCall('find', { q: 'invoice 7' }, 'no such thing')],
  })
  utimesSync(join(data.recordings, 'old.jsonl'), daysAgo(20), daysAgo(20))
  data.put('shop.jsonl', {
    label: 'shop',
    at: daysAgo(2),
    asked: [
      toolCall('find', { q: 'Invoice 8' }, 'café'),
      {
        method: 'tools/call',
        params: { name: 'pay', arguments: { n: 8 } },
        error: { code: -32603, message: 'Card declined' },
      },
    ],
    more: [{ t: daysAgo(2).toISOString(), type: 'stderr', text: 'ERROR invoice table is locked' }],
  })
  data.put('files.jsonl', {
    label: 'files',
    at: daysAgo(1),
    asked: [toolCall('read', { path: '/invoices/8.txt' }, 'paid')],
  })
  writeFileSync(join(data.recordings, 'notes.txt'), 'invoice')
})

interface Match {
  readonly recording: string
  readonly sequence: number | null
  readonly kind: string
  readonly snippet: string
  readonly match: { start: number; end: number } | null
}

async function search(...args: string[]): Promise<Match[]> {
  const { stdout, stderr, code } = await data.run('search', ...args, '--jsonl')
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
  const matches = stdout.split('\n').filter((line) => line !== '')
  return matches.map((line) => JSON.parse(line) as Match)
}
const places = (matches: readonly Match[]): string[] =>
  matches.map(({ recording, sequence }) => `${recording} ${sequence}`)

describe('search', () => {
  it('finds a word in every recording, newest first, with the text around it', async () => {
    const { stdout, code } = await data.run('search', 'invoice')
    expect(code).toBe(0)
    const lines = stdout.split('\n')
    expect(lines[0]).toBe('files')
    expect(lines[1]).toMatch(
      /^ {4}#0 {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}→ tools\/call read · …?.*"path":"\/invoices\/8.txt"/,
    )
    expect(stdout).toContain('stderr · ERROR invoice table is locked')
    expect(lines.at(-2)).toBe('4 matches in 3 of 3 recordings')
    expect(places(await search('invoice'))).toEqual([
      'files.jsonl 0',
      'shop.jsonl 0',
      'shop.jsonl null',
      'old.jsonl 0',
    ])
  })

  it('takes any filter, also one without a text', async () => {
    expect(places(await search('tool:find is:result'))).toEqual(['shop.jsonl 1', 'old.jsonl 1'])
    expect(places(await search('is:error'))).toEqual(['shop.jsonl 3'])
    expect(places(await search('path:$.params.arguments.q~invoice -seq:1'))).toHaveLength(2)
    expect(places(await search('~/declin[a-z]+/'))).toEqual(['shop.jsonl 3'])
    expect(await search('nothing-has-this-word')).toEqual([])
  })

  it('searches only a label, a name, a folder, a time', async () => {
    expect(places(await search('invoice', '--in', 'shop'))).toHaveLength(3)
    expect(places(await search('invoice', '--in', 'latest'))).toEqual(['files.jsonl 0'])
    expect(places(await search('invoice', '--since', '7d'))).toEqual([
      'files.jsonl 0',
      'shop.jsonl 0',
      'shop.jsonl null',
    ])
    mkdirSync(join(data.home, 'empty'))
    expect(await search('invoice', '--in', 'empty')).toEqual([])
    const all = await search('invoice', '--in', data.recordings, '--limit', '2')
    expect(places(all)).toEqual(['files.jsonl 0', 'shop.jsonl 0'])
  })

  it('gives machine output as its schema says, with the place of the match in the snippet', async () => {
    const { stdout } = await data.run('search', 'invoice', '--json')
    expectSchema('search', JSON.parse(stdout))
    const { matches } = JSON.parse(stdout) as { matches: Match[] }
    for (const { snippet, match } of matches) {
      expect(snippet.slice(match!.start, match!.end).toLowerCase()).toBe('invoice')
    }
    const [accent] = await search('CAFÉ')
    expect(accent!.snippet.slice(accent!.match!.start, accent!.match!.end)).toBe('café')
  })

  it('goes on after a recording that it cannot read', async () => {
    const gone = join(data.home, 'broken.jsonl')
    writeFileSync(gone, 'invoice, but no recording\n')
    const { stdout, stderr, code } = await data.run('search', 'invoice', '--in', gone, 'files', '--jsonl')
    expect({ lines: stdout.trim().split('\n').length, code }).toEqual({ lines: 1, code: 0 })
    expect(stderr).toMatch(/broken\.jsonl.*not a recording/)
  })

  it.each([
    [['tol:find'], /^wiretape: the filter, column 1: .*tool/],
    [[''], /^wiretape: a word or condition to search for is needed/],
    [['x', '--since', 'soon'], /^wiretape: --since soon is not a time \(such as 7d/],
    [['x', '--in', 'nobody'], /^wiretape: cannot read nobody: no such/],
    [['x', '--limit', '0'], /whole number/],
  ])('refuses %j in one line', async (args, line) => {
    const { stdout, stderr, code } = await data.run('search', ...args)
    expect({ stdout, code, lines: stderr.split('\n').length }).toEqual({ stdout: '', code: 2, lines: 2 })
    expect(stderr).toMatch(line)
  })
})
