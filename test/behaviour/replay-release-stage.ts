/** Recordings of release.mjs and mini-mcp.mjs, replayed against other releases. */
import { writeFileSync } from 'node:fs'
import { afterAll, beforeAll } from 'vitest'
import { call, createReplayStage, opening, type Client } from './replay-stage.js'
import type { Run } from './run-cli.js'
import { server } from './stage.js'

export const release = (...changes: string[]): string[] => server('release.mjs', ...changes)

/** A conversation in which the server returns a cursor and a handle, and requires them later. */
const user: Client = {
  messages: [
    ...opening,
    { id: 1, method: 'tools/list' },
    ({ result }) => ({ id: 2, method: 'tools/list', params: { cursor: result.nextCursor } }),
    call(3, 'search', { query: 'x' }),
    call(4, 'open'),
    ({ result }) => call(5, 'read', JSON.parse(result.content[0]!.text)),
  ],
}
const answering: Client = {
  answers: { 'roots/list': { result: { roots: [{ uri: 'file:///recorded' }] } } },
  messages: [
    ...opening,
    call(1, 'ask'),
    { id: 2, method: 'tools/call', params: { name: 'progress', _meta: { progressToken: 7 } } },
  ],
}

/** Lines about exchanges and offers, without their numbers. */
export const found = ({ stdout }: Run): string[] =>
  stdout
    .split('\n')
    .filter((line) =>
      /^ {2}(?:changed|error now|fixed now|missing|new|timed out|breaking|review|compatible) /.test(line),
    )
    .map((line) => line.trim().replaceAll(/ {2,}/g, ' '))

export function useReleases() {
  const stage = createReplayStage()
  beforeAll(async () => {
    for (const name of ['base', 'old']) {
      await stage.record(`${name}.jsonl`, user, release())
      writeFileSync(stage.path(`${name}.compare.yaml`), 'match: {"$..handle": uuid}\n')
    }
    await stage.record('asks.jsonl', answering, server('mini-mcp.mjs'))
  })
  afterAll(() => stage.close())

  const replay = (tape: string, command: readonly string[], ...options: string[]): Promise<Run> =>
    stage.run('replay', tape, ...options, '--', ...command)

  return { stage, replay }
}
