/** A data folder with recordings that a test defines. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'vitest'
import { plainEnv, wiretape, type Run } from './run-cli.js'
import { identity } from '../fixtures/identity.mjs'

/** A request and its response after so many milliseconds; a missing one is not recorded. */
export interface Asked {
  readonly method?: string
  readonly params?: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
  readonly ms?: number
  /** Lines between the request and its response. */
  readonly between?: readonly object[]
}

export interface Made {
  readonly label: string
  readonly at: Date
  readonly session?: string
  readonly server?: { readonly name: string; readonly version: string }
  readonly client?: { readonly name: string; readonly version: string }
  readonly asked: readonly Asked[]
  /** Lines before the last one. */
  readonly more?: readonly object[]
}

export interface DataFolder {
  /** The folder of the user's data. */
  readonly home: string
  /** The folder of the recordings. */
  readonly recordings: string
  put(file: string, made: Made): string
  run(...args: string[]): Promise<Run>
  close(): void
}

export function toolCall(name: string, args: unknown, text: string, more: Partial<Asked> = {}): Asked {
  return {
    method: 'tools/call',
    params: { name, arguments: args },
    result: { content: [{ type: 'text', text }] },
    ...more,
  }
}

export function daysAgo(days: number): Date {
  return new Date(Date.now() - days * 86_400_000)
}

export function createDataFolder(): DataFolder {
  const home = mkdtempSync(join(tmpdir(), 'wiretape-data-'))
  const recordings = join(home, 'wiretape/recordings')
  mkdirSync(recordings, { recursive: true })
  let sessions = 0
  return {
    home,
    recordings,
    put(file, made) {
      sessions += 1
      const session = made.session ?? `${`${sessions}`.padStart(8, '0')}-0000-4000-8000-000000000000`
      const path = join(recordings, file)
      const lines = linesOf({ ...made, session })
      writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
      return path
    },
    run: (...args) => wiretape(args, { cwd: home, env: plainEnv({ XDG_DATA_HOME: home }) }),
    close: () => rmSync(home, { recursive: true, force: true }),
  }
}

function linesOf({
  label,
  at,
  session,
  server,
  client,
  asked,
  more = [],
}: Made & { session: string }): object[] {
  const startedAt = at.toISOString()
  const time = (us: number): string => new Date(at.getTime() + us / 1000).toISOString()
  const own = { ...identity, session }
  const lines: object[] = [
    {
      v: 1,
      type: 'meta',
      startedAt,
      label,
      command: ['server', label],
      mcpTapVersion: '1',
      wiretape: own,
    },
  ]
  let us = 0
  let seq = 0
  const id = (n: number): string => `${session.slice(0, 8)}-1111-4111-8111-${`${n}`.padStart(12, '0')}`
  const all: Asked[] = []
  if (server || client) {
    const peer = { protocolVersion: '2025-11-25', capabilities: {} }
    all.push({
      method: 'initialize',
      params: { ...peer, clientInfo: client ?? { name: 'c', version: '1' } },
      result: { ...peer, serverInfo: server ?? { name: 's', version: '1' } },
    })
  }
  all.push(...asked)
  for (const [n, { method = 'tools/call', params, result, error, ms = 1, between = [] }] of all.entries()) {
    const asks = seq
    lines.push({
      t: time(us),
      dir: 'in',
      raw: { jsonrpc: '2.0', id: n, method, params },
      id: id(seq),
      seq,
      us,
    })
    seq += 1
    lines.push(...between)
    us += ms * 1000
    if (result !== undefined || error !== undefined) {
      const answer = error ? { error } : { result }
      const raw = { jsonrpc: '2.0', id: n, ...answer }
      lines.push({ t: time(us), dir: 'out', raw, id: id(seq), corr: id(asks), seq, us })
      seq += 1
    }
    us += 1000
  }
  lines.push(...more, {
    t: time(us),
    type: 'end',
    exitCode: 0,
    durationMs: Math.round(us / 1000),
    wiretape: { messages: seq },
  })
  return lines
}

/** Checks a value against its published schema in docs/schemas. */
export function expectSchema(name: string, value: unknown): void {
  const path = resolve(import.meta.dirname, `../../docs/schemas/${name}.schema.json`)
  const published = JSON.parse(readFileSync(path, 'utf8')) as object
  const validate = new Ajv2020({
    strict: true,
    allErrors: true,
    strictRequired: false,
    allowUnionTypes: true,
  }).compile(published)
  validate(value)
  expect(validate.errors ?? []).toEqual([])
}
