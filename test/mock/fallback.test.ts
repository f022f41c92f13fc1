import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { createFallback } from '../../src/mock/fallback/fallback.js'
import type { ServerMessage } from '../../src/link/index.js'
import type { Play } from '../../src/mock/play.js'
import { readEnvelope } from '../../src/wire/index.js'

it('stops a server that has not responded to initialize when its client has ended its input', async () => {
  const heard: ServerMessage[] = []
  const notices: string[] = []
  const sink = { isOpen: true, send: (message: ServerMessage) => Promise.resolve(void heard.push(message)) }
  const fallback = createFallback({
    standalone: sink,
    play: {} as Play,
    recorded: 0,
    command: [process.execPath, '-e', 'process.stdin.resume()'],
    errorOutput: new PassThrough(),
    notice: (line) => void notices.push(line),
    witness: undefined,
    greetingMs: 20,
  })
  const hello = '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}'
  fallback.greet(hello, readEnvelope(hello, 0))
  const asks = '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x"}}'
  fallback.ask(asks, readEnvelope(asks, 0), sink, -1)
  await fallback.settled()
  expect(heard).toEqual([])
  await fallback.close()
  expect(heard).toMatchObject([{ final: true, text: expect.stringContaining('"id":7,"error"') }])
  expect(notices.at(-1)).toBe('no response from the fallback: it has not responded to initialize')
  // The fallback is closed: it starts no further process.
  fallback.ask(asks, readEnvelope(asks, 0), sink, -1)
  expect(heard).toHaveLength(2)
})
