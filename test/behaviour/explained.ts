import { writeFileSync } from 'node:fs'
import { expect } from 'vitest'
import { answers } from './mini-talk.js'
import { plainEnv, wiretape } from './run-cli.js'
import { until, useStage, type Actor, type Stage } from './stage.js'

/** The text or report of `wiretape explain` about the only tape. */
export async function explained(stage: Stage, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await wiretape(['explain', stage.tape(), ...args], {
    cwd: stage.folder,
    env: plainEnv(stage.env),
  })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout
}

/** Recordings of servers on stdio, explained when they have ended. */
export function useExplained() {
  const stage = useStage()
  const explain = (...args: string[]): Promise<string> => explained(stage, ...args)
  const record = (command: readonly string[], rules?: string): Actor => {
    if (rules !== undefined) writeFileSync(stage.path('rules.yaml'), rules)
    return stage.start(stage.record(command, rules === undefined ? [] : ['--rules', 'rules.yaml']))
  }
  const got = async (recorder: Actor, count: number): Promise<void> => {
    await until(`${count} messages`, () => answers(recorder).length >= count || undefined)
  }
  const told = async (recorder: Actor, ...args: string[]): Promise<string> => {
    recorder.stdin.end()
    await recorder.ended
    return explain(...args)
  }
  return { stage, explain, record, got, told }
}
