/** `record --otlp` with every pair of transports between a client and a server. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { attributesOf, countOf, startReceiver } from '../telemetry/receiver.mjs'
import { useHttpStage } from './http-stage.js'
import { startPlay, transports } from './rules-transports.js'

const stage = useHttpStage()
let receiver: Awaited<ReturnType<typeof startReceiver>>
beforeEach(async () => {
  receiver = await startReceiver()
})
afterEach(async () => {
  await receiver.close()
})

it.each(transports)('exports the messages of %s', async (name) => {
  const play = await startPlay(stage, name, ['--otlp', receiver.url])
  await play.ask(1, { text: 'x' })
  await play.end()
  expect(receiver.faults).toEqual([])
  const span = receiver.spans().find(({ name: of }) => of === 'tools/call echo')
  expect(attributesOf(span)).toMatchObject({
    'gen_ai.tool.name': 'echo',
    'network.transport': name === 'stdio' || name === 'a bridge to stdio' ? 'pipe' : 'tcp',
    ...(name.endsWith('2026') && { 'mcp.protocol.version': '2026-07-28' }),
  })
  const report = receiver.metrics().at(-1)!
  expect(countOf(report['mcp.server.operation.duration'])).toBeGreaterThan(0)
  expect(countOf(report['wiretape.recorder.messages'])).toBeGreaterThan(1)
})
