/** Mocks of tapes that a test writes. */
import { writeFileSync } from 'node:fs'
import { wiretape, type Run } from './run-cli.js'
import { useStage } from './stage.js'

export const meta = '{"v":1,"type":"meta","startedAt":"2026-08-01T10:00:00.000Z","label":"x","command":["x"]}'
export const end = '{"t":"2026-08-01T10:00:09.000Z","type":"end","exitCode":0,"durationMs":9000}'

/** Output of the mock for these messages, line by line. */
export async function asked(args: string[], ...messages: string[]): Promise<Run & { lines: string[] }> {
  const input = messages.map((text) => `${text.replace('{', '{"jsonrpc":"2.0",')}\n`).join('')
  const run = await wiretape(['mock', ...args], { input })
  return { ...run, lines: run.stdout.split('\n').slice(0, -1) }
}

export const call = (id: string, name: string, args = '{}', more = ''): string =>
  `{"id":${id},"method":"tools/call","params":{"name":"${name}","arguments":${args}${more}}}`

export function useMockedTape() {
  const stage = useStage()

  /** A tape of lines such as `> {…}` (client) and `< {…}` (server), half a second apart; `"jsonrpc"` is added. */
  function tapeOf(...messages: string[]): string {
    const lines = messages.map((line, i) => {
      const raw = line.slice(2).replace('{', '{"jsonrpc":"2.0",')
      const t = new Date(Date.parse('2026-08-01T10:00:00.000Z') + i * 500).toISOString()
      return `{"t":"${t}","dir":"${line.startsWith('>') ? 'in' : 'out'}","raw":${raw}}`
    })
    const path = stage.path('tape.jsonl')
    writeFileSync(path, [meta, ...lines, end, ''].join('\n'))
    return path
  }

  return { stage, tapeOf }
}
