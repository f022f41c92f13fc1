import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ServerStart } from '../../src/capture/server-start.js'

let registryFolder: string
let start: ServerStart
beforeEach(() => {
  registryFolder = mkdtempSync(join(tmpdir(), 'wiretape-test-'))
  start = new ServerStart()
})
afterEach(async () => {
  await start.abandon()
  rmSync(registryFolder, { recursive: true })
})

async function startSleeper(): ReturnType<ServerStart['start']> {
  const command = ['sh', '-c', 'trap "" TERM; echo up; exec sleep 60']
  return start.start({ command, registryFolder })
}

it('ends a server that nothing was connected to, although it ignores SIGTERM', async () => {
  const server = await startSleeper()
  if ('error' in server) throw new Error(server.error)
  await start.abandon()
  expect(await server.exited).toMatchObject({ signal: 'SIGKILL' })
})

it('leaves a server alone that is in use', async () => {
  const server = await startSleeper()
  if ('error' in server) throw new Error(server.error)
  start.connect(() => undefined)
  await start.abandon()
  expect(server.kill('SIGCONT')).toBe(true)
  server.kill('SIGKILL')
  await server.exited
  for (const pipe of [server.stdin, server.stdout, server.stderr]) pipe.destroy()
})

it('passes on signals that came before there was a receiver, in order', () => {
  process.emit('SIGUSR2', 'SIGUSR2')
  process.emit('SIGUSR1', 'SIGUSR1')
  const received: NodeJS.Signals[] = []
  start.connect((signal) => received.push(signal))
  process.emit('SIGUSR2', 'SIGUSR2')
  expect(received).toEqual(['SIGUSR2', 'SIGUSR1', 'SIGUSR2'])
})
