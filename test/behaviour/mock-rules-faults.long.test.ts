/** Every action of rules on a mock, on both transports. */
import { describe, expect, it } from 'vitest'
import { mock } from '../../src/index.js'
import { wiretape } from './run-cli.js'
import { postHeaders } from './stage.js'
import { type Answer, calls, first, second, told, useRulesOfMock } from './mock-rules-stage.js'

const { tape, rulesOf } = useRulesOfMock()

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
