import { describe, expect, it } from 'vitest'
import { printed } from './stage.js'
import { ping } from './mini-talk.js'
import { call, tail, useTail } from './tail-stage.js'

const { stage, record } = useTail()

describe('tail', () => {
  it('prints recorded and new messages, and ends with the capture', async () => {
    const recorder = await record()
    await recorder.send(ping(1))
    const tailing = stage.start(tail())
    await printed(tailing, '← result of #0 ping')
    await recorder.send(call(2, 'echo'))
    await printed(tailing, '← result of #2 tools/call echo')
    recorder.stdin.end()
    expect(await tailing.ended).toEqual({ exitCode: 0, signal: null })
    const lines = tailing.stdout().toString()
    expect(lines).toContain('→ tools/call echo')
    expect(lines).not.toContain('unanswered')
    expect(tailing.stderr().toString()).toBe('')
  })

  it('keeps messages that a filter matches, responses by their request', async () => {
    const recorder = await record()
    const tailing = stage.start(tail('mini', '--filter', 'tool:echo'))
    await recorder.send(ping(1) + call(2, 'echo') + ping(3))
    await printed(tailing, '← result of #')
    recorder.stdin.end()
    await tailing.ended
    expect(tailing.stdout().toString()).not.toContain('ping')
  })
})
