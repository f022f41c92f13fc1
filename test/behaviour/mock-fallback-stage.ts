/** Mocks with a fallback, whose recordings are of mini-mcp. */
import { writeFileSync } from 'node:fs'
import { wiretape, type Run } from './run-cli.js'
import { server, useStage } from './stage.js'

export const mini = server('mini-mcp.mjs')
export const rpc = (message: object): string => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`
export const opening =
  rpc({
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
  }) + rpc({ method: 'notifications/initialized' })
export const call = (id: number, name: string, args: object = {}, more: object = {}): string =>
  rpc({ id, method: 'tools/call', params: { name, arguments: args, ...more } })

export interface Answer {
  readonly id: unknown
  readonly result: { readonly content: readonly { readonly text: string }[] }
  readonly error: { readonly code: number; readonly message: string }
}

export async function asked(
  args: string[],
  ...messages: string[]
): Promise<Run & { answers: Map<number, Answer> }> {
  const run = await wiretape(['mock', ...args], { input: opening + messages.join('') })
  const lines = run.stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
  return {
    ...run,
    answers: new Map(lines.filter(({ id }) => id !== undefined).map((line) => [line.id, line])),
  }
}

export const textOf = (answer: Answer | undefined): string | undefined => answer?.result.content[0]?.text

export function useRecordedMini() {
  const stage = useStage()

  /** Records mini-mcp's responses to these messages. */
  async function recorded(...messages: string[]): Promise<string> {
    await wiretape(stage.record(mini).slice(2), { input: opening + messages.join('') })
    return stage.tape()
  }

  /** Writes a file of rules. */
  function rules(text: string): string {
    const path = stage.path('rules.yaml')
    writeFileSync(path, text)
    return path
  }

  return { stage, recorded, rules }
}
