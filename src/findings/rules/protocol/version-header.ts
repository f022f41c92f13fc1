import type { Rule } from '../../finding.js'
import { headerOf } from '../../message.js'
import { sources } from '../sources.js'

export const versionHeader: Rule = {
  info: {
    id: 'protocol/version-header',
    pack: 'protocol',
    level: 'error',
    certainty: 'exact',
    title: 'The MCP-Protocol-Version header of an HTTP request is missing or names another version.',
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
          message: `MCP-Protocol-Version is missing, but the agreed version is ${version}`,
          what: 'missing',
        })
      else if (said !== version)
        say(message, {
          message: `MCP-Protocol-Version is ${said}, but the agreed version is ${version}`,
          what: 'other',
        })
    },
  }),
}
