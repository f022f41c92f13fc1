import type { Rule } from '../../finding.js'
import { mostUsed } from '../limits.js'
import { sources } from '../sources.js'

export const reusedSession: Rule = {
  info: {
    id: 'protocol/reused-session',
    pack: 'protocol',
    level: 'error',
    certainty: 'exact',
    title: 'A server gave one session id to two sessions.',
    help: 'Each client can see and act in the other’s session. Session ids must be unique.',
    source: sources.transports,
    owasp: 'MCP07',
  },
  begin({ server }, say) {
    const opened = new Map<string, number>()
    return {
      message(message) {
        const { conversation } = message.record
        if (server.transport !== 'streamable-http' || conversation === undefined) return
        if (!message.answers('initialize') || message.part.envelope.kind !== 'result') return
        const before = opened.get(conversation)
        if (before === undefined) {
          if (opened.size < mostUsed) opened.set(conversation, message.row)
        } else
          say(message, {
            message: 'the session id of this response belongs to an earlier session',
            also: [before],
          })
      },
    }
  },
}
