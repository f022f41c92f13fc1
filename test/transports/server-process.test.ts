import { fstatSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { startServer } from '../../src/transports/index.js'

it('keeps the output of a server that ended before anybody read it', async () => {
  // With a socket as stderr, so that Node makes the server's.
  expect(fstatSync(2).isSocket()).toBe(true)
  const server = await startServer(['sh', '-c', 'echo out; echo error >&2'])
  if ('error' in server) throw new Error(server.error)
  await server.exited
  await setTimeout(50)
  const output = Promise.all([text(server.stdout), text(server.stderr)])
  server.stdin.destroy()
  expect(await output).toEqual(['out\n', 'error\n'])
})
