import { writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { call, createReplayStage, opening, type Client, type ReplayStage } from '../behaviour/replay-stage.js'
import { run, type Run } from '../behaviour/run-cli.js'
import { server } from '../behaviour/stage.js'

const user: Client = {
  messages: [
    ...opening,
    { id: 1, method: 'tools/list' },
    call(2, 'price'),
    call(3, 'status'),
    call(4, 'add_note', { text: 'milk' }),
    (last) => call(5, 'read_note', { id: idIn(last) }),
    call(6, 'fail'),
    call(7, 'nosuch', { password: 'sk-live-3f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c' }),
  ],
}
const idIn = (answer: unknown): string =>
  (answer as { result: { structuredContent: { id: string } } }).result.structuredContent.id

describe('wiretape codegen', () => {
  let stage: ReplayStage
  beforeAll(async () => {
    stage = createReplayStage()
    await stage.record('a.jsonl', user, server('varying-mcp.mjs'))
  })
  afterAll(() => stage.close())
  const codegen = async (...options: string[]): Promise<string> => {
    const made = await stage.run('codegen', 'a.jsonl', ...options)
    expect(made).toMatchObject({ code: 0, stderr: '' })
    return made.stdout
  }
  const refused = (...options: string[]): Promise<Run> => stage.run('codegen', ...options)

  it.each([
    [
      'vitest',
      [
        "toEqual(['price', 'status', 'add_note', 'read_note', 'fail'])",
        "expect(answer).toEqual({ item: 'tea', price: 4.5, currency: 'EUR' })",
        'id = result.structuredContent.id',
        "await call('read_note', { id })",
        'rejects.toThrow(/Unknown tool: nosuch/)',
      ],
    ],
    [
      'node-test',
      [
        "assert.deepEqual(answer, { item: 'tea', price: 4.5, currency: 'EUR' })",
        'id = result.structuredContent.id',
        'assert.rejects(',
      ],
    ],
    [
      'pytest',
      [
        'assert answer == {"item": "tea", "price": 4.5, "currency": "EUR"}',
        'made["id"] = result["structuredContent"]["id"]',
        '{"name": "read_note", "arguments": {"id": made["id"]}}',
        'with pytest.raises(Exception, match=r"Unknown tool: nosuch")',
      ],
    ],
  ])('%s: stable values, and values that one answer gives and a later call needs', async (kind, pieces) => {
    const text = await codegen('--to', kind)
    for (const piece of pieces) expect(text).toContain(piece)
    expect(text, 'no moment of the recording').not.toMatch(/\d\d:\d\d:\d\d/)
    expect(text, 'no id of the recording').not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/)
  })

  it('takes a redacted argument from the environment', async () => {
    const text = await codegen('--to', 'node-test', '--filter', 'tool:nosuch')
    expect(text).toContain('password: process.env.PASSWORD')
    expect(text).not.toContain('sk-live')
    expect(text).not.toContain('price')
  })

  it('checks the type of values that vary according to the compare file', async () => {
    writeFileSync(stage.path('rules.yaml'), 'match: { "$.result.content[0].text.requests": number }\n')
    const text = await codegen('--to', 'vitest', '--compare-file', 'rules.yaml')
    expect(text).toContain('requests: expect.any(Number)')
    expect(await codegen('--to', 'vitest')).toMatch(/requests: \d+,/)
  })

  it('writes a file, and replaces an existing one only on request', async () => {
    expect(await codegen('--to', 'pytest', '--client', 'plain', '--out', 'test_a.py')).toBe('')
    expect(await refused('a.jsonl', '--to', 'pytest', '--out', 'test_a.py')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('test_a.py'),
    })
    expect(await codegen('--to', 'pytest', '--out', 'test_a.py', '--force')).toBe('')
  })

  it('keeps hostile names and odd values inside of literals', async () => {
    const name = 'a\'); process.exit(3)//`${1}`\u2028"""'
    const odd = call(1, name, JSON.parse('{"__proto__": {"a": 1}}') as object)
    await stage.record('odd.jsonl', { messages: [...opening, odd] }, server('varying-mcp.mjs'))
    const of = async (kind: string): Promise<string> =>
      (await stage.run('codegen', 'odd.jsonl', '--to', kind)).stdout
    const text = await of('node-test')
    expect(text).toContain("['__proto__']: { a: 1 }")
    writeFileSync(stage.path('odd.mjs'), text)
    expect(await run([process.execPath, '--check', stage.path('odd.mjs')])).toMatchObject({ code: 0 })
    expect(text).not.toContain('\u2028')
  })

  it('refuses what it cannot test', async () => {
    for (const [args, why] of [
      [['a.jsonl', '--to', 'jest'], 'jest'],
      [['a.jsonl', '--to', 'vitest', '--filter', 'method:ping'], 'has nothing to test'],
      [['none.jsonl', '--to', 'vitest'], 'none.jsonl'],
    ] as const)
      expect(await refused(...args)).toMatchObject({ code: 2, stderr: expect.stringContaining(why) })
  })
})
