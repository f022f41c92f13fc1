/** Every action of rules on a mock, on both transports. */
import { writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mock } from '../../src/index.js'
import { tapeOf } from '../compare/stage.js'
import { wiretape } from './run-cli.js'
import { createStage, postHeaders, type Stage } from './stage.js'

let stage: Stage
let tape = ''
beforeAll(() => {
  stage = createStage()
  tape = stage.path('tape.jsonl')
  const said = (name: string) => ({ params: { name }, result: { text: name, more: 'more' } })
  writeFileSync(tape, tapeOf(['one', 'two'].map(said)))
})
afterAll(() => stage.close())

const calls = ['one', 'two'].map(
  (name, i) => `${JSON.stringify({ jsonrpc: '2.0', id: i + 1, method: 'tools/call', params: { name } })}\n`,
)
interface Answer {
  readonly id: number
  readonly result?: { readonly text?: string; readonly more?: string }
  readonly error?: { readonly code: number; readonly message: string }
}
/** Responses in the order of their arrival: `1 one more`, `1 error -32603`. */
const told = ({ id, result, error }: Answer): string =>
  [id, error ? `error ${error.code}` : result?.text, result?.more].filter(Boolean).join(' ')

function rulesOf(action: string, more = ''): string {
  const path = stage.path('rules.yaml')
  writeFileSync(path, `rules: [{ name: r, when: 'tool:one', ${action}${more} }]`)
  return path
}

const first = '1 one more'
const second = '2 two more'

describe('a rule on a mock', () => {
  it.each(['', 'on: answers, '])('%sdelay: the response comes later, others do not', async (on) => {
    const rules = rulesOf(`${on}delay: 300ms`)
    const run = await wiretape(['mock', tape, '--rules', rules], { input: calls.join('') })
    const answers = run.stdout.split('\n').slice(0, -1)
    expect(answers.map((line) => told(JSON.parse(line) as Answer))).toEqual([second, first])

    const served = await mock(tape, { rules })
    const began = performance.now()
    try {
      const response = await fetch(served.url, { method: 'POST', headers: postHeaders, body: calls[0]! })
      expect(await response.text()).toContain('"text":"one"')
    } finally {
      await served.close()
    }
    // Timers may be a moment early.
    expect(performance.now() - began).toBeGreaterThan(295)
  })

  it('duplicate: the second call counts as not recorded', async () => {
    const { stdout, stderr } = await wiretape(['mock', tape, '--rules', rulesOf('duplicate: true')], {
      input: calls.join(''),
    })
    const answers = stdout.split('\n').slice(0, -1)
    expect(answers.map((line) => told(JSON.parse(line) as Answer)).toSorted()).toEqual([
      '1 error -31404',
      first,
      second,
    ])
    expect(stderr).toMatch(/^wiretape: tools\/call one [^\n]+\n$/)
  })

  it.each(['', ', on: answers'])('disconnect%s: the client sees the end', async (more) => {
    const rules = rulesOf('disconnect: true', more)
    const { stdout } = await wiretape(['mock', tape, '--rules', rules], { input: calls[0]! })
    expect(stdout).toBe('')
    const served = await mock(tape, { rules })
    try {
      await expect(
        fetch(served.url, { method: 'POST', headers: postHeaders, body: calls[0]! }),
      ).rejects.toThrow('fetch failed')
      // Other clients are served.
      const response = await fetch(served.url, { method: 'POST', headers: postHeaders, body: calls[1]! })
      expect(told((await response.json()) as Answer)).toBe(second)
    } finally {
      await served.close()
    }
  })
})
