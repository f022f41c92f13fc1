import net from 'node:net'
import { describe, expect, it } from 'vitest'
import { server, until, useStage } from '../behaviour/stage.js'
import { attach, socketOf } from '../behaviour/attach.js'

const stage = useStage()

const megabyte = 1024 * 1024

/** Writes until it is cut off. @returns what came before that, and how much was taken */
async function writeOn(
  path: string,
  first: string,
  mostBytes: number,
): Promise<{ said: string; taken: number }> {
  const socket = net.connect(path)
  let said = ''
  let taken = 0
  let isOver = false
  socket.on('data', (chunk: Buffer) => (said += chunk.toString()))
  socket.on('error', () => undefined)
  socket.on('close', () => (isOver = true))
  if (first !== '') socket.write(first)
  const chunk = Buffer.alloc(megabyte, 'x')
  while (!isOver && taken < mostBytes) {
    const done = await new Promise<boolean>((resolve) => socket.write(chunk, (error) => resolve(!error)))
    if (done) taken += chunk.length
    else break
  }
  await until('it is cut off', () => isOver || /"type":"refused"/.test(said))
  socket.destroy()
  return { said, taken }
}

describe('a control line that does not end', () => {
  it('costs its sender the connection, and the capture goes on', async () => {
    const recorder = stage.start(stage.record(server('echo-lines.mjs')))
    const path = await socketOf(stage)
    const early = await writeOn(path, '', 400 * megabyte)
    expect(early.said).toContain('the first line is too long')
    expect(early.taken).toBeLessThan(10 * megabyte)
    const hello = '{"type":"hello","protocol":1,"role":"screen"}\n'
    const late = await writeOn(path, hello, 400 * megabyte)
    expect(late.said).toMatch(/a line is too long|bytes in unfinished lines/)
    expect(late.taken).toBeLessThan(200 * megabyte)
    const screen = await attach(stage)
    await recorder.send('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    await screen.event('the message', ({ type }) => type === 'record', 2)
    screen.close()
    recorder.stdin.end()
    expect(await recorder.ended).toMatchObject({ exitCode: 0 })
  })
})
