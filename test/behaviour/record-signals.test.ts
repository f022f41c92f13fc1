import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  isRunning,
  printed,
  readIfThere,
  server,
  settled,
  until,
  writtenBytes,
  type Actor,
  useStage,
} from './stage.js'
import { linesOfTape, linesOfType } from './tape-bytes.js'

const stage = useStage()

/** Without a terminal, even if the tests have one. */
const record = (command: readonly string[]): Actor => stage.start(stage.record(command), { detached: true })

const signalled = (name: string, received: number): string =>
  `{"jsonrpc":"2.0","method":"notifications/signal","params":{"name":"${name}","received":${received}}}`

describe('a signal to the recorder', () => {
  it.each(['SIGTERM', 'SIGHUP', 'SIGINT'] as const)('reaches the server every time: %s', async (signal) => {
    const recorder = record(server('trap-signals.mjs'))
    await printed(recorder, 'notifications/ready')
    for (const received of [1, 2, 3]) {
      recorder.child.kill(signal)
      await printed(recorder, signalled(signal, received))
    }
    expect(await recorder.ended).toEqual({ exitCode: 3, signal: null })
    expect(stage.running()).toEqual([])
  })

  it('reaches the server: SIGQUIT', async () => {
    const script = `process.on('SIGQUIT', () => process.exit(7)); process.stdin.resume(); console.log('ready')`
    const recorder = record([process.execPath, '-e', script])
    await printed(recorder, 'ready')
    recorder.child.kill('SIGQUIT')
    expect((await recorder.ended).exitCode).toBe(7)
  })

  it('ends a server that ignores it, and the tape says so', async () => {
    const recorder = record(server('echo-lines.mjs'))
    await recorder.send('{}\n')
    await printed(recorder, '{}\n')
    recorder.child.kill('SIGTERM')
    expect((await recorder.ended).exitCode).toBe(143)
    expect(linesOfTape(stage.tape()).at(-1)).toMatchObject({ exitCode: 143, wiretape: { signal: 'SIGTERM' } })
  })

  it('ends the recorder when the server is gone and the client does not read the rest', async () => {
    // The server is a shell that leaves a writing process behind.
    const script = 'yes "{\\"jsonrpc\\":\\"2.0\\"}" & echo $! >writer.pid; echo $$ >server.pid; exit 9'
    const recorder = stage.start(stage.record(['sh', '-c', script]), {
      detached: true,
      read: false,
    })
    const pid = await until('the server runs', () => Number(readIfThere(stage.path('server.pid'))))
    await until('the server has ended', () => !isRunning(pid))
    // More than pipes, sockets and the recorder's first batch hold: the client's end is full.
    await settled(() => writtenBytes(Number(readIfThere(stage.path('writer.pid')))), 250_000)
    recorder.child.kill('SIGTERM')
    expect((await recorder.ended).exitCode).toBe(9)
    await until('the writer is gone too', () => stage.running().length === 0)
    expect(linesOfTape(stage.tape()).at(-1)).toMatchObject({ type: 'end', exitCode: 9 })
    expect(linesOfType(stage.tape(), 'undelivered').length).toBeGreaterThan(0)
  })
})

it('that kills the recorder closes the input of the server', async () => {
  const recorder = record(['sh', '-c', 'echo ready; cat >/dev/null; echo end >end.txt'])
  await printed(recorder, 'ready')
  recorder.child.kill('SIGKILL')
  await until('the server saw the end', () => readIfThere(stage.path('end.txt')))
  await until('the server has ended', () => stage.running().length === 0)
})

const hasScript = spawnSync('script', ['--version']).status === 0

it.skipIf(!hasScript)('of Ctrl-C is not forwarded: the terminal sends it to the server itself', async () => {
  const quoted = stage.record(server('trap-signals.mjs')).map((word) => `'${word.replaceAll("'", `'\\''`)}'`)
  // `exec`: a shell that stays would die of the Ctrl-C itself and hide the recorder's status.
  const terminal = stage.start(['script', '-qefc', `exec ${quoted.join(' ')}`, '/dev/null'], {
    env: { ...stage.env, SHELL: '/bin/sh' },
  })
  await printed(terminal, 'notifications/ready')
  const registry = stage.path('data/wiretape/live')
  const [entry] = readdirSync(registry)
  const { pid } = JSON.parse(readFileSync(`${registry}/${entry}`, 'utf8'))

  await terminal.send('\u0003')
  await printed(terminal, signalled('SIGINT', 1))
  // A second SIGINT would have been counted before SIGTERM.
  process.kill(pid, 'SIGTERM')
  await printed(terminal, signalled('SIGTERM', 2))
  process.kill(pid, 'SIGHUP')
  await printed(terminal, signalled('SIGHUP', 3))
  expect((await terminal.ended).exitCode).toBe(3)
  const names = linesOfType(stage.tape(), undefined).map(({ raw }) => raw.params.name)
  expect(names).toEqual([undefined, 'SIGINT', 'SIGTERM', 'SIGHUP'])
  // On a terminal, one line names the recording.
  expect(terminal.stdout().toString()).toContain(`recorded 4 messages to ${stage.tape()}`)
})
if (!hasScript) process.stderr.write('left out: no `script` to open a terminal with\n')
