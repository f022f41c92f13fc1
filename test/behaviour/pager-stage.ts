/** Recordings whose reports fill a pager. */
import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, expect } from 'vitest'
import { createDataFolder, daysAgo, toolCall } from './data-folder.js'
import { runOnTerminal, unstyled } from './run-cli.js'
import { cli, createStage } from './stage.js'

export const hasScript = spawnSync('script', ['--version']).status === 0
const find = { name: 'find', inputSchema: { type: 'object', properties: { q: { type: 'string' } } } }

export const marked = { PAGER: "sed 's/^/paged: /'" }

export function usePagedRecordings() {
  const data = createDataFolder()
  const stage = createStage()

  beforeAll(() => {
    const at = daysAgo(1)
    const offered = { method: 'tools/list', params: {}, result: { tools: [find] } }
    const asked = [offered, toolCall('find', { q: 'a' }, 'no such thing')]
    data.put('short.jsonl', { label: 'short', at, server: { name: 'short', version: '1' }, asked })
    // More than a pipe holds, so that the program is still writing when the pager shows its first screen.
    const many = Array.from({ length: 3000 }, (_, n) =>
      toolCall('find', { q: `question ${n}` }, `answer ${n}`),
    )
    data.put('long.jsonl', { label: 'long', at, asked: many })
  })
  afterAll(async () => {
    data.close()
    await stage.close()
  })

  async function onTerminal(args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
    const options = { cwd: data.home, env: { XDG_DATA_HOME: data.home, ...env } }
    const { stdout, code } = await runOnTerminal([process.execPath, cli, ...args], 100, options)
    expect(code).toBe(0)
    return unstyled(stdout)
  }

  return { data, stage, onTerminal }
}
