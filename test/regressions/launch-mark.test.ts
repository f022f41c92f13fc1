import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { cli, createStage, type Stage } from '../behaviour/stage.js'

let stage: Stage
beforeEach(() => (stage = createStage()))
afterEach(() => stage.close())

it.each(['record', 'doctor'])('servers of %s do not get the variable of the launcher', async (command) => {
  const seen = stage.path('seen')
  const server = ['sh', '-c', `printf "[$WIRETAPE_LAUNCHED]" > ${seen}`]
  const actor = stage.start([process.execPath, cli, command, '--', ...server], {
    env: { WIRETAPE_LAUNCHED: '1' },
  })
  actor.stdin.end()
  await actor.ended
  expect(readFileSync(seen, 'utf8')).toBe('[]')
})
