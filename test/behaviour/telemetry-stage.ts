/** Recordings that export telemetry, and their receivers. */
import { afterEach, expect } from 'vitest'
import { startReceiver } from '../telemetry/receiver.mjs'
import { useHttpStage } from './http-stage.js'
import { answerTo, call } from './mini-talk.js'
import { server, type Actor } from './stage.js'

export type Receiver = Awaited<ReturnType<typeof startReceiver>>

const hello = `${JSON.stringify({
  jsonrpc: '2.0',
  id: 'hello',
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
})}\n`
export const quick = { OTEL_BSP_SCHEDULE_DELAY: '10', OTEL_METRIC_EXPORT_INTERVAL: '50' }

export async function end(recorder: Actor): Promise<string> {
  recorder.stdin.end()
  expect(await recorder.ended).toEqual({ exitCode: 0, signal: null })
  return recorder.stderr().toString()
}

export const calls = [call(1, 'echo', { text: 'x' }), call(2, 'fail'), call(3, 'tool-error'), call(4, 'nope')]

export function useReceivers() {
  const receivers: Receiver[] = []
  afterEach(async () => {
    for (const receiver of receivers.splice(0)) {
      expect(receiver.faults).toEqual([])
      await receiver.close()
    }
  })
  // Hooks run in reverse order: the recorders end before the receivers are checked.
  const stage = useHttpStage()

  async function receive(...args: Parameters<typeof startReceiver>): Promise<Receiver> {
    const receiver = await startReceiver(...args)
    receivers.push(receiver)
    return receiver
  }

  async function start(options: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Actor> {
    const recorder = stage.start(stage.record(server('mini-mcp.mjs'), options), {
      env: { ...stage.env, ...env },
    })
    await recorder.send(hello)
    await answerTo(recorder, 'hello')
    return recorder
  }

  return { stage, receive, start }
}
