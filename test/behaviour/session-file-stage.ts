/** Recordings with a session file, and sessions as the format documents them. */
import { readFileSync, writeFileSync } from 'node:fs'
import { plainEnv, wiretape, type Run } from './run-cli.js'
import { type Actor, useStage } from './stage.js'
import type { Line } from './tape-bytes.js'

export const request = '{"jsonrpc":"2.0","id":1,  "method":"ping","params":{"n":1e3}}'
export const sample = {
  id: '550e8400-e29b-41d4-a716-446655440000',
  started_at: '2026-03-04T10:00:00+00:00',
  ended_at: '2026-03-04T10:05:30+00:00',
  transport: 'stdio',
  server_command: 'python my_server.py',
  server_url: null as string | null,
  messages: [
    message('msg-001', 0, 'client_to_server', 1, 'initialize', null, { method: 'initialize', params: {} }),
    message('msg-002', 1, 'server_to_client', 1, null, 'msg-001', { result: {} }),
    message('msg-003', 2, 'client_to_server', null, 'notifications/initialized', null, {
      method: 'notifications/initialized',
    }),
  ] as Line[],
  metadata: { target: 'example-server' } as Line,
}

function message(
  proxy_id: string,
  sequence: number,
  direction: string,
  id: unknown,
  method: unknown,
  correlated_id: unknown,
  payload: object,
): Line {
  return {
    proxy_id,
    sequence,
    timestamp: `2026-03-04T10:00:0${sequence + 1}+00:00`,
    direction,
    transport: 'stdio',
    jsonrpc_id: id,
    method,
    correlated_id,
    modified: false,
    payload: { jsonrpc: '2.0', ...(id !== null && { id }), ...payload },
  }
}

export function useSessionFile() {
  const stage = useStage()
  const file = (): string => stage.path('session.json')

  const session = (): Line => JSON.parse(readFileSync(file(), 'utf8'))
  const cli = (args: readonly string[], input = ''): Promise<Run> =>
    wiretape(args, { cwd: stage.folder, env: plainEnv(stage.env), input })

  function record(command: readonly string[], ...options: string[]): Actor {
    return stage.start(stage.record(command, ['--session-file', 'session.json', ...options]), {
      detached: true,
    })
  }

  const write = (value: unknown): void => writeFileSync(file(), JSON.stringify(value, null, 2))

  return { stage, file, session, cli, record, write }
}
