import type { SchemaFault } from '../../../compare/index.js'
import type { Rule } from '../../finding.js'
import { textAt } from '../../json.js'
import { protocolSchema } from '../../mcp-schemas/index.js'
import type { Message } from '../../message.js'
import type { ServerState } from '../../server-state.js'
import { describeFaults, hiddenBelow } from '../schemas/faults.js'
import { sources } from '../sources.js'

/**
 * Members covered by other rules: ids, the JSON-RPC version, the `_meta` of requests of 2026-07-28, and the inputSchema
 * of tools.
 */
const elsewhere = /^\/(?:id|jsonrpc|params\/_meta|result\/tools\/\d+\/inputSchema)(?:\/|$)/
const missing = new Map([
  ['has no "_meta"', /^\/params$/],
  ['has no "inputSchema"', /^\/result\/tools\/\d+$/],
])

function isElsewhere({ at, problem }: SchemaFault): boolean {
  return elsewhere.test(at) || missing.get(problem)?.test(at) === true
}

export const officialSchema: Rule = {
  info: {
    id: 'protocol/schema',
    live: true,
    pack: 'protocol',
    level: 'error',
    certainty: 'exact',
    title: 'A message does not match the official JSON Schema of its protocol version.',
    help: 'Clients and servers made with the official SDKs reject it.',
    source: sources.schema,
  },
  begin: ({ server }, say) => ({
    message(message) {
      const found = message.isAnswer ? faultsOfResult(message, server) : faultsOfRequest(message, server)
      const faults = found?.faults.filter((fault) => !isElsewhere(fault)) ?? []
      if (faults.length === 0) return
      say(message, {
        message: `${found!.what} does not match the schema of ${found!.revision}: ${describeFaults(faults)}`,
        at: faults[0]!.at,
        what: `${message.method} ${placeOf(faults[0]!)}`,
      })
    },
  }),
}

interface Found {
  readonly what: string
  readonly revision: string
  readonly faults: readonly SchemaFault[]
}

function faultsOfRequest(message: Message, server: ServerState): Found | undefined {
  const { kind, odd } = message.part.envelope
  // A message that is not JSON-RPC has a rule of its own.
  if (kind === 'invalid' || odd) return undefined
  const version = message.asks('initialize')
    ? textAt(message.params, 'protocolVersion')
    : (message.part.envelope.protocolVersion ?? server.conversation(message).version)
  const schema = protocolSchema(version)
  const name = schema?.ofMethod(message.method)
  if (!schema || name === undefined || message.value === undefined) return undefined
  const faults = schema.faults(name, message.value, () => hiddenBelow(message, ''))
  return {
    what: message.method,
    revision: schema.revision,
    // From 2026-07-28 on, each request has params for its `_meta`; their absence has a rule of its own.
    faults:
      schema.revision >= '2026-07-28'
        ? faults.filter(({ at, problem }) => at !== '' || problem !== 'has no "params"')
        : faults,
  }
}

function faultsOfResult(message: Message, server: ServerState): Found | undefined {
  const { kind, odd } = message.part.envelope
  if (kind !== 'result' || odd || message.asked === undefined) return undefined
  const { result } = message
  const version = message.answers('initialize')
    ? textAt(result, 'protocolVersion')
    : server.conversation(message).version
  const schema = protocolSchema(version)
  const name = schema?.ofResult(message.method, result)
  if (!schema || name === undefined || result === undefined) return undefined
  const faults = schema.faults(name, result, () => hiddenBelow(message, '/result'))
  return {
    what: `the result of ${message.method}`,
    revision: schema.revision,
    faults: faults.map(({ at, problem }) => ({ at: `/result${at}`, problem })),
  }
}

function placeOf({ at, problem }: SchemaFault): string {
  return `${at.replaceAll(/\/\d+(?=\/|$)/g, '/*')} ${problem}`
}
