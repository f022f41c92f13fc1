import type { Rule } from '../../finding.js'
import { sources } from '../sources.js'

/** The SDKs close the connection on a longer line. */
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
