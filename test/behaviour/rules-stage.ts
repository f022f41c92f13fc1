/** Recordings of stdio servers with rules. */
import { writeFileSync } from 'node:fs'
import { answers, endOf } from './mini-talk.js'
import { server, until, type Actor, useStage } from './stage.js'
import type { Line } from './tape-bytes.js'

export async function count(recorder: Actor, n: number): Promise<Line[]> {
  return until(`${n} answers`, () => (answers(recorder).length >= n ? answers(recorder) : undefined))
}

export function useRules() {
  const stage = useStage()

  function record(rules: string, name = 'mini-mcp.mjs'): Actor {
    writeFileSync(stage.path('rules.yaml'), rules)
    return stage.start(stage.record(server(name), ['--rules', 'rules.yaml']))
  }

  const end = (recorder: Actor): Promise<Line[]> => endOf(stage, recorder)

  return { stage, record, end }
}
