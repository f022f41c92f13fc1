import type { Rule } from '../../finding.js'
import { sources } from '../sources.js'

export const removedBatch: Rule = {
  info: {
    id: 'protocol/batch',
    live: true,
    pack: 'protocol',
    level: 'error',
    certainty: 'exact',
    title: 'A batch was sent in a protocol version without batches.',
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
