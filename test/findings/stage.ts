import { createFindings, rules as allRules, type Finding, type Rule } from '../../src/findings/index.js'
import { decodeLine } from '../../src/formats/index.js'
import { createFold } from '../../src/model/index.js'
import { idKey } from '../../src/wire/index.js'
import { identity } from '../fixtures/identity.mjs'

/** Members of one line of a tape; the time is added. */
export type Line = Readonly<Record<string, unknown>>

const t = '2026-08-01T10:00:00.000Z'
const jsonrpc = '2.0'

/** A tape with these lines between its first and its last one. */
export function tapeOf(lines: readonly Line[], meta: Line = {}): string {
  const { wiretape, ...own } = meta
  const first = {
    v: 1,
    type: 'meta',
    startedAt: t,
    label: 'x',
    command: ['server'],
    ...own,
    // Without an identity `fold` finds out itself what belongs together.
    ...(wiretape !== undefined && { wiretape: { ...identity, ...(wiretape as Line) } }),
  }
  const asked = new Map<unknown, Line>()
  let seq = 0
  let us = 0
  const body = lines.map((line) => {
    us += 1000
    const isMessage = line['raw'] !== undefined
    const parts = Array.isArray(line['raw']) ? (line['raw'] as unknown[]).length : 1
    const full: Line = {
      t,
      us,
      ...(isMessage && { id: `00000000-0000-4000-8000-${String(seq).padStart(12, '0')}`, seq }),
      ...line,
    }
    if (isMessage) seq += parts
    const { id, method } = (line['raw'] ?? {}) as { id?: unknown; method?: string }
    if (wiretape === undefined) return { t, ...line, us }
    if (method !== undefined) asked.set(id, full)
    return { ...full, ...(id !== undefined && method === undefined && { corr: asked.get(id)?.['id'] }) }
  })
  const end = { t, type: 'end', exitCode: 0, durationMs: 1 }
  return [first, ...body, end].map((line) => `${JSON.stringify(line)}\n`).join('')
}

let ids = 100

/** A request of the client and its result; without one it is not answered. */
export function ask(method: string, params?: unknown, result?: unknown, id: unknown = (ids += 1)): Line[] {
  const request = { dir: 'in', raw: { jsonrpc, id, method, ...(params !== undefined && { params }) } }
  return result === undefined ? [request] : [request, { dir: 'out', raw: { jsonrpc, id, result } }]
}

/** The same, of the server. */
export function askClient(method: string, params?: unknown, result?: unknown): Line[] {
  return ask(method, params, result).map((line) => ({ ...line, dir: line['dir'] === 'in' ? 'out' : 'in' }))
}

export function fromServer(method: string, params?: unknown): Line {
  return { dir: 'out', raw: { jsonrpc, method, ...(params !== undefined && { params }) } }
}

export function fromClient(method: string, params?: unknown): Line {
  return { dir: 'in', raw: { jsonrpc, method, ...(params !== undefined && { params }) } }
}

/** A handshake of the legacy era. */
export function opened(
  options: { version?: string; client?: object; server?: object; name?: string } = {},
): Line[] {
  const { version = '2025-11-25', client = {}, server = { tools: {} }, name = 'srv' } = options
  return [
    ...ask(
      'initialize',
      { protocolVersion: version, capabilities: client, clientInfo: { name: 'c', version: '1' } },
      { protocolVersion: version, capabilities: server, serverInfo: { name, version: '1' } },
      0,
    ),
    fromClient('notifications/initialized'),
  ]
}

/** Tools as a server lists them. */
export function listed(...tools: object[]): Line[] {
  const full = tools.map((tool) => ({ inputSchema: { type: 'object' }, ...tool }))
  return ask('tools/list', undefined, { tools: full })
}

export function called(name: string, args: unknown, result: unknown): Line[] {
  return ask('tools/call', { name, arguments: args }, result)
}

/** Findings in tapes of one run. */
export function findingsIn(tapes: readonly string[], rules: readonly Rule[] = allRules): Finding[] {
  const engine = createFindings(rules)
  return tapes.flatMap((tape) => {
    const fold = createFold(idKey)
    const run = engine.begin(fold)
    for (const line of tape.trimEnd().split('\n')) {
      const decoded = decodeLine(line)
      if ('fault' in decoded) throw new Error(decoded.fault.message)
      run.take(decoded.record, fold.push(decoded.record))
    }
    run.finish()
    return [...run.found]
  })
}

/** `level id`, of each rule and level once. */
export function namesIn(tapes: readonly string[], rules?: readonly Rule[]): string[] {
  return [...new Set(findingsIn(tapes, rules).map(({ level, rule }) => `${level} ${rule.id}`))]
}
