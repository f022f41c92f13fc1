/** Recordings of a server that changes on disk. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { writeFileSync } from 'node:fs'
import { beforeEach } from 'vitest'
import { wiretapeIn } from './run-cli.js'
import { server, until, useStage } from './stage.js'

interface Talk {
  readonly client: Client
  readonly changes: () => number
  call(name: string): Promise<unknown>
}

export async function talk(transport: Transport): Promise<Talk> {
  const client = new Client({ name: 'test-client', version: '1' }, { capabilities: { roots: {} } })
  let changes = 0
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void (changes += 1))
  await client.connect(transport)
  return {
    client,
    changes: () => changes,
    async call(name) {
      const { content } = await client.callTool({ name })
      return JSON.parse((content as { text: string }[])[0]!.text)
    },
  }
}

/** Waits until a response comes from this version of the server. */
export async function untilVersion(one: Talk, version: string): Promise<void> {
  await until(
    `version ${version} answers`,
    async () => (await one.call('version').catch(() => undefined)) === version,
  )
}

export function useReload() {
  const stage = useStage()
  beforeEach(() => {
    become({ version: '1', tools: ['heard', 'version'] })
  })

  const become = (state: object | string): void =>
    writeFileSync(stage.path('state.json'), typeof state === 'string' ? state : JSON.stringify(state))
  const changing = (): string[] => server('changing-mcp.mjs', stage.path('state.json'))
  const cli = wiretapeIn(stage)

  async function record(...options: string[]): Promise<Talk & { said: () => string }> {
    const [command, ...args] = stage.record(changing(), options)
    const env = stage.env as Record<string, string>
    const transport = new StdioClientTransport({
      command: command!,
      args,
      env,
      cwd: stage.folder,
      stderr: 'pipe',
    })
    let said = ''
    transport.stderr!.on('data', (chunk: Buffer) => void (said += chunk.toString()))
    return { ...(await talk(transport)), said: () => said }
  }

  return { stage, become, changing, cli, record }
}
