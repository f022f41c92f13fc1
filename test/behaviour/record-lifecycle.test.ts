import { closeSync, constants, existsSync, openSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readIfThere, server, until, useStage } from './stage.js'
import { linesOfTape } from './tape-bytes.js'

const hasProc = existsSync('/proc/self/fdinfo')

const stage = useStage()

describe.each(['sockets', 'pipes'] as const)('to a client that is connected over %s', (over) => {
  const record = (command: readonly string[], read = true) =>
    stage.start(stage.record(command), { over, read })

  it('ends when the server ends, after all its output, although the client would write on', async () => {
    const recorder = record(server('flood.mjs', '3000', '1000'))
    expect(await recorder.ended).toEqual({ exitCode: 0, signal: null })
    expect(recorder.stdout()).toHaveLength(3_000_000)
    expect(linesOfTape(stage.tape()).at(-1)).toMatchObject({
      type: 'end',
      exitCode: 0,
      wiretape: { messages: 3000 },
    })
    expect(stage.running()).toEqual([])
  })
})

describe('a grandchild that holds the output open', () => {
  it('does not keep the recorder running until its client kills it, 2 s after SIGTERM as the official clients do', async () => {
    const recorder = stage.start(stage.record(['sh', '-c', 'sleep 60 & echo $!; exec sleep 60']))
    await until('the child runs', () => recorder.stdout().toString().endsWith('\n'))
    recorder.child.kill('SIGTERM')
    const killed = setTimeout(() => recorder.child.kill('SIGKILL'), 2_000)
    await recorder.ended
    clearTimeout(killed)
    process.kill(Number(recorder.stdout().toString()), 'SIGKILL')
    expect(linesOfTape(stage.tape()).at(-1)).toMatchObject({ type: 'end', wiretape: { signal: 'SIGTERM' } })
  })
})

it.skipIf(!hasProc)('keeps the descriptors of its own files from the server', async () => {
  const list = 'for fd in /proc/$$/fd/*; do echo "${fd##*/}"; done'
  const recorder = stage.start(stage.record(['sh', '-c', list]))
  await recorder.ended
  const without = stage.start(['sh', '-c', list])
  await without.ended
  expect(recorder.stdout().toString()).toBe(without.stdout().toString())
})

it.skipIf(!hasProc)('leaves the flags of a stderr that it shares with its client', async () => {
  // If the recorder made the pipe non-blocking, the client's own writes would fail with EAGAIN.
  const client = stage.start(
    ['sh', '-c', '"$@" & wait', 'sh', ...stage.record(['sh', '-c', 'echo up >&2; sleep 60'])],
    {
      over: 'pipes',
    },
  )
  await until('the server runs', () => client.stderr().includes('up'))
  const flags = /^flags:\s+(\d+)/m.exec(readIfThere(`/proc/${client.pid}/fdinfo/2`))![1]!
  expect(Number.parseInt(flags, 8) & constants.O_NONBLOCK).toBe(0)
})

it.skipIf(!existsSync('/dev/full'))('ends a server whose output has no reader', async () => {
  const full = openSync('/dev/full', 'w')
  const command = ['sh', '-c', 'yes "{}"; kill -s PIPE $$']
  const recorder = stage.start(stage.record(command), { stdio: ['pipe', full, 'pipe'] })
  closeSync(full)
  expect(await recorder.ended).toEqual({ exitCode: 128 + 13, signal: null })
})
