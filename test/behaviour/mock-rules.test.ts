/** Every action of rules on a mock, on both transports. */
import { describe, expect, it } from 'vitest'
import { mock } from '../../src/index.js'
import { isLong } from '../long.js'
import { wiretape } from './run-cli.js'
import { postHeaders } from './stage.js'
import { type Answer, calls, first, second, told, useRulesOfMock } from './mock-rules-stage.js'

const { tape, rulesOf } = useRulesOfMock()

/** Responses to several requests have no order. */
function ordered(texts: readonly string[]): string[] {
  return texts.map((text) => told(JSON.parse(text) as Answer)).toSorted()
}

describe('a rule on a mock', () => {
  /** The responses over HTTP are given if they differ. */
  type Case = [action: string, onStdio: string[], overHttp?: string[]]
  const usual: Case[] = [
    [`on: answers, set: { '$.result.text': lie }`, ['1 lie more', second]],
    [`respond: { error: { code: -7, message: no } }`, ['1 error -7', second]],
    [`drop: true`, [second], ['1 error -32603', second]],
    [`on: answers, duplicate: true`, [first, first, second]],
  ]
  const others: Case[] = [
    [`on: answers, remove: ['$.result.more']`, ['1 one', second]],
    [`on: answers, replace: { pattern: '^o', with: 'O' }`, ['1 One more', second]],
    [`on: answers, drop: true`, [second], ['1 error -32603', second]],
    [`on: answers, duplicate: 2`, [first, first, first, second]],
    [`hold: true`, [first, second]],
    [`set: { '$.params.nowhere.x': 1 }`, ['1 error -32603', second]],
    [`probability: 0, drop: true`, [first, second]],
  ]
  it.each(isLong ? [...usual, ...others] : usual)('%s', async (action, onStdio, overHttp = onStdio) => {
    const rules = rulesOf(action)
    const run = await wiretape(['mock', tape, '--rules', rules], { input: calls.join('') })
    expect(ordered(run.stdout.split('\n').slice(0, -1))).toEqual(onStdio)
    expect(run.code).toBe(0)

    const served = await mock(tape, { rules })
    const came: string[] = []
    try {
      await Promise.all(
        calls.map(async (body) => {
          const response = await fetch(served.url, { method: 'POST', headers: postHeaders, body })
          const text = await response.text()
          const events = text.split('\n').filter((line) => line.startsWith('data: {'))
          came.push(...(text.startsWith('{') ? [text] : events.map((line) => line.slice('data: '.length))))
        }),
      )
    } finally {
      await served.close()
    }
    expect(ordered(came)).toEqual(overHttp)
  })

  it('hold: a line says that no screen can attach', async () => {
    const { stderr } = await wiretape(['mock', tape, '--rules', rulesOf('hold: true')], { input: calls[0]! })
    expect(stderr).toBe(
      'wiretape: rule r holds messages for a person; a mock cannot hold messages and delivers them\n',
    )
  })
})
