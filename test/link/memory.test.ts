import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { connectInMemory, type ClientFrame, type Link, type MemoryServer } from '../../src/link/index.js'
import { prepareStage } from '../../src/mock/stage.js'
import type { Connect } from '../../src/replay/index.js'
import { openSegments } from '../../src/tape/index.js'
import { replayTape } from '../replay/replay-tape.js'

const folder = mkdtempSync(join(tmpdir(), 'wiretape-memory-'))
afterAll(() => rmSync(folder, { recursive: true }))

const ping: ClientFrame = { text: '{"jsonrpc":"2.0","id":1,"method":"ping"}', id: '1', requests: 1 }

/** A link to a server that does nothing by itself, and the messages that its client received. */
function linked(): { link: Link; server: MemoryServer; taken: string[]; heard: string[] } {
  const taken: string[] = []
  const heard: string[] = []
  let server: MemoryServer | undefined
  const link = connectInMemory(
    {
      message: (text, via) => void heard.push(via ? `${via.id}: ${text}` : text),
      failed: (_frame, reason) => void heard.push(`failed: ${reason}`),
      ended: (reason) => void heard.push(`ended: ${reason}`),
    },
    (own) => {
      server = own
      return { take: ({ text }) => void taken.push(text) }
    },
  )
  return { link, server: server!, taken, heard }
}

const soon = (): Promise<void> => new Promise((done) => setImmediate(done))

describe('a link in memory', () => {
  it('passes each message to the other end, in order, until one of them ends', async () => {
    const { link, server, taken, heard } = linked()
    await link.send(ping)
    server.say('one', ping)
    server.say('two')
    server.end('it is late')
    await soon()
    await link.send(ping)
    expect(taken).toEqual([ping.text])
    expect(heard).toEqual(['1: one', 'two', 'ended: it is late', 'failed: the server has ended'])
  })

  it('is silent while it is held, and goes on where it stopped', async () => {
    const { link, server, heard } = linked()
    link.hold(true)
    server.say('one')
    server.say('two')
    await soon()
    expect(heard).toEqual([])
    link.hold(false)
    await soon()
    expect(heard).toEqual(['one', 'two'])
  })

  it('passes no message once its client has closed it', async () => {
    const { link, server, heard } = linked()
    server.say('one')
    await link.close()
    server.say('two')
    await soon()
    expect(heard).toEqual([])
  })
})

it('a recording is replayed against its own mock without a socket', async () => {
  const t = '2026-08-01T10:00:00.000Z'
  const lines: object[] = [{ v: 1, type: 'meta', startedAt: t, label: 'x', command: [] }]
  for (const id of [1, 2, 3])
    lines.push(
      { t, dir: 'in', raw: { jsonrpc: '2.0', id, method: 'tools/call', params: { name: `tool-${id}` } } },
      { t, dir: 'out', raw: { jsonrpc: '2.0', method: 'notifications/message', params: { data: id } } },
      { t, dir: 'out', raw: { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: `${id}` }] } } },
    )
  const tape = join(folder, 'three.jsonl')
  writeFileSync(tape, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  const [file] = await openSegments(tape)
  const recording = {
    records: () => file!.format.read({ bytes: () => file!.bytes(file!.sizeBytes) }, () => undefined),
  }
  const nothing = (): void => undefined
  const stage = await prepareStage(recording, tape, { onMiss: nothing, onNotice: nothing })
  const connect: Connect = (events) =>
    Promise.resolve(
      connectInMemory(events, (server) => {
        const conversation = stage.open(
          {
            isOpen: true,
            send({ text }) {
              server.say(text)
              return Promise.resolve()
            },
          },
          'stdio',
        )
        conversation.start()
        return { take: ({ text }) => void conversation.take(text), close: () => conversation.close() }
      }),
    )
  const { verdicts } = await replayTape(tape, connect, 30_000)
  stage.play.close()
  expect(verdicts).toEqual(['same', 'same', 'same'])
  expect(stage.counts).toEqual({ served: 3, missed: 0 })
})
