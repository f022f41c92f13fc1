import { readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { attach } from './attach.js'
import { answerTo, call, isMessage, ping } from './mini-talk.js'
import { run } from './run-cli.js'
import { server, until, type Actor, useStage } from './stage.js'
import { linesOfTape, type Line } from './tape-bytes.js'

const stage = useStage()

const record = (): Actor => stage.start(stage.record(server('mini-mcp.mjs')))

const recorded = (): Promise<Line> =>
  until('a message is on the tape', () => linesOfTape(stage.tape()).find(isMessage))

describe('a command on a tape that has become unreadable', () => {
  it.each(['annotate', 'replay'])('%s is refused, and the session goes on', async (type) => {
    const recorder = record()
    await recorder.send(call(1, 'echo'))
    await answerTo(recorder, 1)
    const message = (await recorded())['id'] as string
    const screen = await attach(stage)
    const tape = stage.tape()
    renameSync(tape, stage.path('moved'))
    writeFileSync(tape, '{"a":1}\n'.repeat(20))
    const reply = await screen.ask({ type, message, ...(type === 'annotate' && { text: 'x' }) })
    expect(reply).toMatchObject({
      ok: false,
      error: { code: 'file', message: expect.stringContaining('.jsonl') },
    })
    await recorder.send(ping(2))
    await answerTo(recorder, 2)
    screen.close()
  })
})

describe('a session file', () => {
  it('does not replace a tape', async () => {
    const recorder = record()
    await recorder.send(ping(1))
    await answerTo(recorder, 1)
    await recorded()
    const screen = await attach(stage)
    const before = readFileSync(stage.tape(), 'utf8')
    symlinkSync(stage.tape(), stage.path('link.json'))
    for (const path of [stage.tape(), stage.path('link.json')])
      expect(await screen.ask({ type: 'save', path })).toMatchObject({
        ok: false,
        error: { code: 'file', message: `cannot write ${path}: it is a tape` },
      })
    expect(readFileSync(stage.tape(), 'utf8').startsWith(before)).toBe(true)
    const other = await run(stage.record(server('mini-mcp.mjs'), ['--session-file', stage.tape()]), {
      cwd: stage.folder,
      env: stage.env,
    })
    expect(other).toMatchObject({ code: 1, stderr: `wiretape: cannot write ${stage.tape()}: it is a tape\n` })
    const { path } = await screen.tell({ type: 'save', path: stage.path('real.json') })
    expect(JSON.parse(readFileSync(path, 'utf8')).messages).toHaveLength(2)
    screen.close()
  })
})
