import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { isRunning, printed, server, until, useStage } from './stage.js'
import { bytesOfTape, linesOfTape, linesOfType } from './tape-bytes.js'

const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n'

const stage = useStage()

describe.each(['sockets', 'pipes'] as const)('to a client that is connected over %s', (over) => {
  const record = (command: readonly string[], read = true) =>
    stage.start(stage.record(command), { over, read })

  it('passes the end of its input on, and the later output of the server', async () => {
    const recorder = record(['sh', '-c', 'cat >/dev/null; echo "seen the end"; exit 6'])
    recorder.stdin.end(ping)
    expect(await recorder.ended).toEqual({ exitCode: 6, signal: null })
    expect(recorder.stdout().toString()).toBe('seen the end\n')
    expect(stage.running()).toEqual([])
  })

  it('shows that the server closed its stdout while it still runs', async () => {
    const recorder = record(['sh', '-c', 'echo last; exec >&-; read -r line; echo "$line" >&2; exit 5'])
    await once(recorder.output, 'end')
    expect(recorder.stdout().toString()).toBe('last\n')
    expect(recorder.child.exitCode).toBeNull()
    await recorder.send('still here\n')
    expect(await recorder.ended).toEqual({ exitCode: 5, signal: null })
    expect(recorder.stderr().toString()).toBe('still here\n')
    expect(bytesOfTape(stage.tape(), 'err').toString()).toBe('still here\n')
  })

  it('shows that the server closed its stdin while it still runs, and marks undelivered messages', async () => {
    const recorder = record(['sh', '-c', 'exec <&-; echo closed; exec sleep 60'])
    await printed(recorder, 'closed')
    const failed = new Promise((done) => recorder.stdin.once('close', done))
    void recorder.send(ping)
    const writing = setInterval(() => recorder.stdin.destroyed || void recorder.send(ping), 1)
    await failed
    clearInterval(writing)
    expect(recorder.stdin.errored).toMatchObject({ code: expect.stringMatching(/EPIPE|ECONNRESET/) })
    recorder.child.kill('SIGTERM')
    expect(await recorder.ended).toEqual({ exitCode: 143, signal: null })
    const messages = linesOfType(stage.tape(), undefined)
    expect(messages.length).toBeGreaterThan(0)
    expect(linesOfType(stage.tape(), 'undelivered').map(({ id }) => id)).toEqual(messages.map(({ id }) => id))
  })

  it("discards a server's output when its client reads no more", async () => {
    const command = ['sh', '-c', 'yes "{}"; kill -s PIPE $$']
    const without = stage.start(command, { over, read: false })
    const withUs = record(command, false)
    for (const actor of [without, withUs]) {
      await once(actor.output, 'readable')
      actor.output.destroy()
      actor.read()
    }
    expect(await without.ended).toEqual({ exitCode: null, signal: 'SIGPIPE' })
    expect(await withUs.ended).toEqual({ exitCode: 128 + 13, signal: null })
    expect(stage.running()).toEqual([])
  })
})

describe('a grandchild that holds the output open', () => {
  it('does not keep the recorder running once it writes nothing', async () => {
    const recorder = stage.start(stage.record(server('grandchild.mjs')))
    const { exitCode } = await recorder.ended
    expect(exitCode).toBe(0)
    const [message] = recorder.stdout().toString().split('\n')
    const { pid } = JSON.parse(message!).params
    expect(isRunning(pid)).toBe(true)
    process.kill(pid, 'SIGKILL')
  })

  it('has its output passed on while it still writes', async () => {
    const script = '(for i in 1 2 3; do sleep 0.8; echo "late $i"; done) & echo early; exit 4'
    const recorder = stage.start(stage.record(['sh', '-c', script]))
    expect((await recorder.ended).exitCode).toBe(4)
    expect(recorder.stdout().toString()).toBe('early\nlate 1\nlate 2\nlate 3\n')
    expect(bytesOfTape(stage.tape(), 'out').toString()).toBe('early\nlate 1\nlate 2\nlate 3\n')
  })
})

describe('the exit status is the server’s', () => {
  it.each([
    ['0', 0],
    ['3', 3],
    ['255', 255],
    ['SIGTERM', 143],
    ['SIGKILL', 137],
    ['SIGSEGV', 139],
  ] as const)('when the server ends with %s', async (status, exitCode) => {
    const recorder = stage.start(stage.record(server('exit-with.mjs', status, 'out', 'err')))
    expect(await recorder.ended).toEqual({ exitCode, signal: null })
    expect([recorder.stdout().toString(), recorder.stderr().toString()]).toEqual(['out', 'err'])
    const end = linesOfTape(stage.tape()).at(-1)!
    expect(end).toMatchObject({ type: 'end', exitCode })
    expect(end['wiretape']['signal']).toBe(status.startsWith('SIG') ? status : undefined)
  })
})

describe('a program that cannot be started', () => {
  it.each([
    ['no such program', 'wiretape-no-such-program'],
    ['permission denied', './not-executable'],
    ['permission denied', './folder'],
  ])('%s: %s', async (why, program) => {
    writeFileSync(stage.path('not-executable'), '#!/bin/sh\n')
    mkdirSync(stage.path('folder'))
    const recorder = stage.start(stage.record([program, 'argument']))
    expect(await recorder.ended).toEqual({ exitCode: 127, signal: null })
    expect(recorder.stdout()).toHaveLength(0)
    const said = recorder.stderr().toString()
    expect(said).toMatch(/^wiretape: [^\n]+\n$/)
    expect(said).toContain(`cannot start "${program}": ${why}`)
    const lines = linesOfTape(stage.tape())
    expect(lines.map(({ type }) => type)).toEqual(['meta', 'end'])
    expect(lines[0]).toMatchObject({ command: [program, 'argument'] })
    expect(lines[1]).toMatchObject({ exitCode: 127, wiretape: { error: expect.stringContaining(why) } })
    expect(stage.running()).toEqual([])
  })
})

it('closes its input when the server is gone, so that the client cannot write on', async () => {
  const recorder = stage.start(stage.record(server('exit-with.mjs', '0')))
  await Promise.all([new Promise((done) => recorder.stdin.once('close', done)), recorder.ended])
  await until('nothing runs any more', () => stage.running().length === 0)
})
