import type { Rule } from '../../finding.js'
import { sources } from '../sources.js'

export const cancelledInitialize: Rule = {
  info: {
    id: 'protocol/cancelled-initialize',
    pack: 'protocol',
    level: 'error',
    certainty: 'exact',
    title: 'The client cancelled initialize.',
    help: 'This request must not be cancelled: close the connection instead.',
    source: sources.cancellation,
  },
  begin: ({ server, fold }, say) => ({
    message(message) {
      if (!message.asks('notifications/cancelled') || message.fromServer) return
      const { initialize } = server.conversation(message)
      if (initialize >= 0 && fold.entries.linked(message.row) === initialize)
        say(message, { message: 'the client cancelled its initialize request', also: [initialize] })
    },
  }),
}
