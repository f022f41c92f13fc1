import { failureOf } from '../compare/index.js'
import { eraOf } from '../model/index.js'
import type { LiveConnection, Pending } from './live-connection.js'
import type { Plan, PlannedConnection } from './plan.js'

/** The newest version whose conversations open with `initialize`; spoken where the recording shows none. */
const newestLegacy = '2025-11-25'
/** As documented for the session workflow, so that nobody takes it for a recorded id. */
const handshakeId = '"__handshake__"'

/** What a client must have declared to be asked for these. */
const capabilityOf: ReadonlyMap<string, string> = new Map([
  ['sampling/createMessage', 'sampling'],
  ['elicitation/create', 'elicitation'],
  ['roots/list', 'roots'],
])

/**
 * Opens a connection whose recording does not: `initialize` with the version and the capabilities that the
 * recording shows.
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
  const frame = { text, method: 'initialize', requests: 1 }
  const refused = await new Promise<string | undefined>((resolve, reject) => {
    const timer = setTimeout(() => {
      live.forget(handshakeId, pending)
      resolve(`no answer within ${timeoutMs / 1000} s`)
    }, timeoutMs)
    const pending: Pending = {
      frame,
      settle(result) {
        clearTimeout(timer)
        resolve('text' in result ? failureOf(result.text) : result.error)
      },
    }
    live.expect(handshakeId, pending)
    live.send(frame).catch(reject)
  })
  if (refused !== undefined) return `the handshake was refused: ${refused}`
  await live.send({
    text: '{"jsonrpc":"2.0","method":"notifications/initialized"}',
    method: 'notifications/initialized',
    requests: 0,
  })
  return undefined
}
