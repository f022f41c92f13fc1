/** Recordings that `wiretape tail` follows. */
import { socketOf } from './attach.js'
import { cli, server, type Actor, useStage } from './stage.js'

export const call = (id: unknown, name: string): string =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name } })}\n`
export const tail = (...args: string[]): string[] => [process.execPath, cli, 'tail', ...args]

export function useTail() {
  const stage = useStage()

  async function record(...options: string[]): Promise<Actor> {
    const recorder = stage.start(stage.record(server('mini-mcp.mjs'), ['--label', 'mini', ...options]))
    await socketOf(stage)
    return recorder
  }

  return { stage, record }
}
