import { failureOf } from '../compare/index.js'
import { eraOf } from '../model/index.js'
import { readEnvelope } from '../wire/index.js'
import { askLive, type LiveConnection } from './live-connection.js'
import type { Finished } from './ordered-outcomes.js'
import type { Plan, PlannedConnection } from './plan.js'
import type { Said } from './read-ahead.js'

/** The newest version whose conversations open with `initialize`; used where the recording shows none. */
export const newestLegacy = '2025-11-25'
/** As documented for the session workflow; not to be confused with a recorded id. */
const handshakeId = '"__handshake__"'

export const initialized = {
  text: '{"jsonrpc":"2.0","method":"notifications/initialized"}',
  method: 'notifications/initialized',
  requests: 0,
} as const

/** The capability that a client must declare before a server may send these requests. */
const capabilityOf: ReadonlyMap<string, string> = new Map([
  ['sampling/createMessage', 'sampling'],
  ['elicitation/create', 'elicitation'],
  ['roots/list', 'roots'],
])

/**
 * Makes the handshake on a connection whose recording has none: `initialize` with the version and the
 * capabilities that the recording shows.
 *
 * @returns why the server refused it, or undefined
 */
export async function openHandshake(
  plan: Plan,
  { name, protocolVersion = newestLegacy }: PlannedConnection,
  live: LiveConnection,
  timeoutMs: number,
): Promise<string | undefined> {
  const asked = plan.questions.filter(({ connection }) => connection === name).map(({ method }) => method)
  const capabilities = Object.fromEntries(
    [...capabilityOf].filter(([method]) => asked.includes(method)).map(([, capability]) => [capability, {}]),
  )
  const params = {
    protocolVersion: eraOf(protocolVersion) === 'legacy' ? protocolVersion : newestLegacy,
    capabilities,
    clientInfo: { name: 'wiretape-replay', version: '1' },
  }
  const text = `{"jsonrpc":"2.0","id":${handshakeId},"method":"initialize","params":${JSON.stringify(params)}}`
  const result = await askLive(live, { text, method: 'initialize', requests: 1 }, handshakeId, timeoutMs)
  const refused = 'text' in result ? failureOf(result.text) : result.error
  if (refused !== undefined) return `the handshake was refused: ${refused}`
  await live.send(initialized)
  return undefined
}

/** Why a handshake that was accepted in the recording is refused now. */
export function refusalOf({ response, error }: Finished, recorded: Said): string | undefined {
  if (response !== undefined && readEnvelope(response, 0).kind !== 'error') return undefined
  if (readEnvelope(recorded.text, 0).kind === 'error') return undefined
  return (response === undefined ? error : failureOf(response)) ?? 'no response'
}
