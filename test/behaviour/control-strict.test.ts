import { expect, it } from 'vitest'
import { attach } from './attach.js'
import { call } from './mini-talk.js'
import { server, useStage } from './stage.js'

const stage = useStage()

it('a screen of a --strict-v1 capture decides about held messages, and is told what its tape cannot store', async () => {
  const recorder = stage.start(stage.record(server('mini-mcp.mjs'), ['--strict-v1', '--intercept']))
  const screen = await attach(stage)
  await recorder.send(call(1, 'echo'))
  const { message } = await screen.held()
  await screen.tell({ type: 'drop', message })
  for (const command of [
    { type: 'annotate', text: 'x' },
    { type: 'replay', message },
    { type: 'subscribe', from: 2 },
  ])
    expect(await screen.ask(command)).toMatchObject({
      ok: false,
      error: { code: 'invalid', message: expect.stringContaining('--strict-v1') },
    })
  screen.close()
})
