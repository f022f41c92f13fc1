import type { Scope } from '../../finding.js'
import type { Message } from '../../message.js'
import type { ServerState } from '../../server-state.js'

/** Limit of remembered secrets and result values per run. */
export const mostRemembered = 50_000

/** A place where a value crossed the wire. */
export interface Crossing {
  readonly server: string
  readonly tool: string
  readonly t: string
}

export function ofRun<T>({ run }: Scope, name: string, make: () => T): T {
  const known = run.get(name) as T | undefined
  if (known !== undefined) return known
  const made = make()
  run.set(name, made)
  return made
}

export function remember<V>(map: Map<string, V>, key: string, value: V): void {
  if (map.size < mostRemembered && !map.has(key)) map.set(key, value)
}

export const crossingOf = (message: Message, server: ServerState): Crossing => ({
  server: server.name ?? '',
  tool: message.tool ?? '',
  t: message.record.t,
})
