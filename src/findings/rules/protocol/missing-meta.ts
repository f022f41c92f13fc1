import type { Rule } from '../../finding.js'
import { sources } from '../sources.js'

export const missingMeta: Rule = {
  info: {
    id: 'protocol/missing-meta',
    live: true,
    pack: 'protocol',
    level: 'error',
    certainty: 'exact',
    title: 'A request of 2026-07-28 lacks the protocol version in its _meta.',
    help: 'Each request of this era states its version, its client and its capabilities.',
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
