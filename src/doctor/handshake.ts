import { protocolVersions } from '../model/index.js'
import { failed, note, ok, type Step } from './step.js'

/** Newest version that uses `initialize`. */
export const offeredVersion = '2025-11-25'

export const initialize = {
  jsonrpc: '2.0',
  id: 'wiretape-doctor',
  method: 'initialize',
  params: {
    protocolVersion: offeredVersion,
    capabilities: {},
    clientInfo: { name: 'wiretape-doctor', version: '1' },
  },
} as const

/** Steps derived from the response to `initialize`. */
export function answerSteps(answer: unknown, tookMs: number): Step[] {
  const { result, error } = (typeof answer === 'object' && answer !== null ? answer : {}) as {
    result?: { protocolVersion?: unknown; serverInfo?: { name?: unknown; version?: unknown } }
    error?: { code?: unknown; message?: unknown }
  }
  const after = `after ${Math.round(tookMs)} ms`
  if (error) {
    const words = `${String(error.code)} ${String(error.message).slice(0, 200)}`
    const isModern = String(error.message).includes('2026-07-28') || error.code === -32601
    const advice = isModern
      ? 'the server may support only 2026-07-28, which has no initialize'
      : 'the server rejected initialize: check its stderr and its documentation'
    return [failed('initialize answered', `with an error: ${words}`, advice)]
  }
  if (!result)
    return [
      failed(
        'initialize answered',
        'with neither result nor error',
        'report this to the author of the server',
      ),
    ]
  const { name, version } = result.serverInfo ?? {}
  const server =
    typeof name === 'string'
      ? `${name.slice(0, 80)} ${typeof version === 'string' ? version.slice(0, 40) : ''}`.trim()
      : 'a server without a name'
  const agreed = result.protocolVersion
  const steps = [ok('initialize answered', `${after}, by ${server}`)]
  if (typeof agreed !== 'string')
    return [
      ...steps,
      failed('version agreed', 'the server sent no version', 'report this to the author of the server'),
    ]
  const isKnown = (protocolVersions as readonly string[]).includes(agreed)
  steps.push(
    isKnown
      ? ok('version agreed', agreed)
      : note('version agreed', `${agreed.slice(0, 40)}, which is not a published version`),
  )
  return steps
}
