/** Messages to mini-mcp behind a recorder, and its responses. */
import { server, until, useStage, type Actor, type Stage } from './stage.js'
import { linesOfTape, type Line } from './tape-bytes.js'

export const call = (id: unknown, name: string, args: object = {}): string =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } })}\n`
export const ping = (id: unknown): string => `${JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' })}\n`

/** Responses that the client received, in order. */
export function answers(recorder: Actor): Line[] {
  return recorder
    .stdout()
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)
}

export async function answerTo(recorder: Actor, id: unknown): Promise<Line> {
  return until(`an answer to ${String(id)}`, () => answers(recorder).find((message) => message['id'] === id))
}

/** Closes the client and returns the lines of the tape. */
export async function endOf(stage: Stage, recorder: Actor): Promise<Line[]> {
  recorder.stdin.end()
  await recorder.ended
  return linesOfTape(stage.tape())
}

export const isMessage = (line: Line): boolean => line['type'] === undefined

/** Recordings of mini-mcp on stdio. */
export function useMini() {
  const stage = useStage()
  return {
    stage,
    record: (...options: string[]): Actor => stage.start(stage.record(server('mini-mcp.mjs'), options)),
    end: (recorder: Actor): Promise<Line[]> => endOf(stage, recorder),
  }
}
