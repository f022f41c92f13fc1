import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { mock } from '../../src/index.js'
import { wiretape } from './run-cli.js'
import { postHeaders } from './stage.js'
import { type Answer, asked, call, mini, rpc, textOf, useRecordedMini } from './mock-fallback-stage.js'

const { stage, recorded, rules } = useRecordedMini()

describe('mock with a fallback', () => {
  it('sends requests that were not recorded to the real server, and keeps its responses in a copy that plays', async () => {
    const tape = await recorded(call(1, 'echo', { text: 'old' }))
    const copy = stage.path('copy.jsonl')
    const token = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789'
    const questions = [
      call(1, 'echo', { text: 'old' }),
      call(2, 'echo', { text: `new ${token}` }),
      call(3, 'progress', { steps: 2 }, { _meta: { progressToken: 'p' } }),
    ]
    const withServer = ['--fallback', '--record', 'new', '--out', copy, '--', ...mini]
    const first = await asked([tape, ...withServer], ...questions)
    expect([1, 2, 3].map((id) => textOf(first.answers.get(id)))).toEqual([
      'old',
      `new ${token}`,
      'Did 2 steps',
    ])
    expect({ code: first.code, stderr: first.stderr }).toEqual({ code: 0, stderr: '' })

    const text = readFileSync(copy, 'utf8')
    expect(text).toContain('"text":"new [REDACTED]"')
    expect(text).not.toContain(token)
    expect(text.startsWith(readFileSync(tape, 'utf8').split('\n').slice(0, -2).join('\n'))).toBe(true)
    const check = await wiretape(['inspect', '--check', copy])
    expect(check.stdout).toMatch(/no faults\n$/)
    const again = await asked([copy], ...questions)
    expect(again.stdout.split('\n').toSorted()).toEqual(first.stdout.split('\n').toSorted())
    expect(again.stderr).toBe('')
  })
})

describe('mock that keeps a copy', () => {
  it('never replaces its recording', async () => {
    const tape = await recorded(call(1, 'echo', { text: 'a' }))
    const options = ['--fallback', '--record', 'new', '--out', tape, '--', ...mini]
    const { code, stderr } = await wiretape(['mock', tape, ...options])
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('is also the input'),
    })
  })
})

describe('mock with rules', () => {
  it('changes messages, responds to them and drops them', async () => {
    const tape = await recorded(
      call(1, 'echo', { text: 'a' }),
      call(2, 'add', { a: 1, b: 2 }),
      call(3, 'echo', { text: 'gone' }),
      call(4, 'ask-nothing'),
    )
    const path = rules(`
rules:
  - { name: ask-right, when: 'tool:echo', replace: { pattern: 'typo', with: 'a' } }
  - { name: lie, when: 'tool:add', on: answers, set: { '$.result.content[0].text': '5' } }
  - { name: lose, when: 'tool:echo', on: answers, every: 2, drop: true }
  - { name: block, when: 'tool:ask-nothing', respond: { error: { code: 1, message: blocked } } }
`)
    const { answers, stderr } = await asked(
      [tape, '--rules', path],
      call(1, 'echo', { text: 'typo' }),
      call(2, 'add', { a: 1, b: 2 }),
      call(3, 'echo', { text: 'gone' }),
      call(4, 'ask-nothing'),
    )
    expect(textOf(answers.get(1))).toBe('a')
    expect(textOf(answers.get(2))).toBe('5')
    expect(answers.has(3)).toBe(false)
    expect(answers.get(4)).toEqual({ jsonrpc: '2.0', id: 4, error: { code: 1, message: 'blocked' } })
    expect(stderr).toBe('')
  })
})

describe('mock() of the library', () => {
  const post = async (url: string, body: string): Promise<Answer> => {
    const response = await fetch(url, { method: 'POST', body, headers: postHeaders })
    return (await response.json()) as Answer
  }

  it('serves a recording over HTTP until it is closed, and reports unmatched calls', async () => {
    const path = stage.path('bare.jsonl')
    writeFileSync(
      path,
      [
        '{"v":1,"type":"meta","startedAt":"2026-08-01T10:00:00.000Z","label":"x","command":[]}',
        '{"t":"2026-08-01T10:00:00.000Z","dir":"in","raw":{"jsonrpc":"2.0","id":1,"method":"tools/list"}}',
        '{"t":"2026-08-01T10:00:00.000Z","dir":"out","raw":{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}}',
        '',
      ].join('\n'),
    )
    const missed: string[] = []
    const served = await mock(path, { onMiss: ({ what }) => missed.push(what) })
    expect(await post(served.url, rpc({ id: 'x', method: 'tools/list' }))).toEqual({
      jsonrpc: '2.0',
      id: 'x',
      result: { tools: [] },
    })
    expect((await post(served.url, rpc({ id: 'y', method: 'prompts/list' }))).error.code).toBe(-31404)
    expect({ served: served.served, missed: served.missed, names: missed }).toEqual({
      served: 1,
      missed: 1,
      names: ['prompts/list'],
    })
    await served.close()
    await served.close()
    await served.ended
    await expect(fetch(served.url)).rejects.toThrow('fetch failed')
  })

  it('rejects a recording that cannot be served', async () => {
    await expect(mock(stage.path('nothing.jsonl'))).rejects.toMatchObject({ code: 'unreadable' })
  })
})
