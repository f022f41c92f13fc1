/** A recording of two calls, mocked with rules. */
import { writeFileSync } from 'node:fs'
import { afterAll, beforeAll } from 'vitest'
import { tapeOf } from '../compare/stage.js'
import { createStage } from './stage.js'

export const calls = ['one', 'two'].map(
  (name, i) => `${JSON.stringify({ jsonrpc: '2.0', id: i + 1, method: 'tools/call', params: { name } })}\n`,
)
export interface Answer {
  readonly id: number
  readonly result?: { readonly text?: string; readonly more?: string }
  readonly error?: { readonly code: number; readonly message: string }
}
/** Responses in the order of their arrival: `1 one more`, `1 error -32603`. */
export const told = ({ id, result, error }: Answer): string =>
  [id, error ? `error ${error.code}` : result?.text, result?.more].filter(Boolean).join(' ')

export const first = '1 one more'
export const second = '2 two more'

export function useRulesOfMock() {
  const stage = createStage()
  const tape = stage.path('tape.jsonl')
  beforeAll(() => {
    const said = (name: string) => ({ params: { name }, result: { text: name, more: 'more' } })
    writeFileSync(tape, tapeOf(['one', 'two'].map(said)))
  })
  afterAll(() => stage.close())

  function rulesOf(action: string, more = ''): string {
    const path = stage.path('rules.yaml')
    writeFileSync(path, `rules: [{ name: r, when: 'tool:one', ${action}${more} }]`)
    return path
  }

  return { tape, rulesOf }
}
