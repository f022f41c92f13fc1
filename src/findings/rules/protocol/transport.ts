import { decodedHeader, isSameHeader, standardHeaders } from '../../../wire/index.js'
import type { Rule } from '../../finding.js'
import { headerOf } from '../../message.js'
import { sources } from '../sources.js'

/** The SDKs close the connection at a longer line. */
const longestLine = 10 * 1024 * 1024

export const longLine: Rule = {
  info: {
    id: 'protocol/long-line',
    pack: 'protocol',
    level: 'warning',
    certainty: 'exact',
    title: 'A message on stdio is longer than 10 MB.',
    help: 'Clients made with the official SDKs drop the connection at such a line. Send a resource link.',
    source: sources.transports,
  },
  begin: ({ server, fold }, say) => ({
    message(message) {
      const size = fold.entries.size(message.row)
      if (server.transport === 'stdio' && size > longestLine)
        say(message, { message: `the message has ${size} bytes` })
    },
  }),
}

export const removedBatch: Rule = {
  info: {
    id: 'protocol/batch',
    live: true,
    pack: 'protocol',
    level: 'error',
    certainty: 'exact',
    title: 'A batch was sent in a protocol version that has none.',
    help: 'JSON-RPC batches were removed in 2025-06-18: send one message at a time.',
    source: sources.batch,
  },
  begin: ({ server }, say) => ({
    message(message) {
      if (!message.record.batch || message.part !== message.record.parts[0]) return
      const { version } = server.conversation(message)
      if (version !== undefined && version >= '2025-06-18')
        say(message, { message: `a batch of ${message.record.parts.length} messages in version ${version}` })
    },
  }),
}

export const versionHeader: Rule = {
  info: {
    id: 'protocol/version-header',
    pack: 'protocol',
    level: 'error',
    certainty: 'exact',
    title: 'A request over HTTP lacks the MCP-Protocol-Version header, or it names another version.',
    help: 'From 2025-06-18 on, clients send the agreed version with every request after initialize.',
    source: sources.transports,
  },
  begin: ({ server }, say) => ({
    message(message) {
      const { headers, method } = message.record.http ?? {}
      if (server.transport !== 'streamable-http' || message.fromServer || !headers || method === undefined)
        return
      const talk = server.conversation(message)
      const { version } = talk
      if (talk.isModern || version === undefined || version < '2025-06-18') return
      if (message.asks('initialize')) return
      const said = headerOf(message, 'mcp-protocol-version')
      if (said === undefined)
        say(message, {
          message: `no MCP-Protocol-Version although ${version} was agreed on`,
          what: 'missing',
        })
      else if (said !== version)
        say(message, {
          message: `MCP-Protocol-Version is ${said}, but ${version} was agreed on`,
          what: 'other',
        })
    },
  }),
}

export const mirroredHeaders: Rule = {
  info: {
    id: 'protocol/mirrored-headers',
    pack: 'protocol',
    level: 'error',
    certainty: 'exact',
    title: 'A Mcp-* header is missing, or says something else than the body.',
    help: 'From 2026-07-28 on, servers refuse such a request with error -32001.',
    source: sources.modernTransports,
  },
  begin: (_, say) => ({
    message(message) {
      const { envelope } = message.part
      if (
        message.fromServer ||
        !envelope.modern ||
        envelope.kind !== 'request' ||
        !message.record.http?.headers
      )
        return
      for (const [name, value] of standardHeaders(envelope)) {
        const said = headerOf(message, name.toLowerCase())
        if (said === undefined) {
          say(message, { message: `the header ${name} is missing`, what: name })
          continue
        }
        const [there, wanted] = [decodedHeader(said), decodedHeader(value)]
        if (there === undefined || wanted === undefined || !isSameHeader(there, wanted))
          say(message, {
            message: `${name} is ${said.slice(0, 200)}, the body says ${value.slice(0, 200)}`,
            what: name,
          })
      }
    },
  }),
}

export const missingMeta: Rule = {
  info: {
    id: 'protocol/missing-meta',
    live: true,
    pack: 'protocol',
    level: 'error',
    certainty: 'exact',
    title: 'A request of 2026-07-28 lacks the protocol version in its _meta.',
    help: 'Each request of this era says its version, its client and its capabilities.',
    source: sources.modern,
  },
  begin: ({ server }, say) => ({
    message(message) {
      const { envelope } = message.part
      if (message.fromServer || envelope.kind !== 'request' || envelope.modern) return
      const talk = server.conversation(message)
      if (!talk.isModern || talk.initialize >= 0 || envelope.method === 'initialize') return
      say(message, {
        message: `${envelope.method} has no protocol version in _meta`,
        what: envelope.method ?? '',
      })
    },
  }),
}
