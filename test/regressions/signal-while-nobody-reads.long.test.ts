import { expect, it } from 'vitest'
import { settled, until, useStage, writtenBytes } from '../behaviour/stage.js'
import { linesOfTape, linesOfType } from '../behaviour/tape-bytes.js'

const stage = useStage()

it('one SIGTERM ends the recorder although its client keeps stdout open and does not read', async () => {
  const message = '{"jsonrpc":"2.0","method":"n"}'
  const recorder = stage.start(stage.record(['yes', message]), { detached: true, read: false })
  await until('there is a tape', () => stage.tapes().length > 0)
  await settled(() => writtenBytes(recorder.pid), 100_000)
  recorder.child.kill('SIGTERM')
  expect(await recorder.ended).toEqual({ exitCode: 143, signal: null })
  expect(linesOfTape(stage.tape()).at(-1)).toMatchObject({ type: 'end', exitCode: 143 })
  expect(linesOfType(stage.tape(), 'undelivered').length).toBeGreaterThan(0)
})
