import type { Rule } from '../../finding.js'
import { sources } from '../sources.js'

export const cancelledAnswered: Rule = {
  info: {
    id: 'protocol/cancelled-answered',
    pack: 'protocol',
    level: 'note',
    certainty: 'exact',
    title: 'A cancelled request was answered.',
    help: 'The two messages may have crossed. A server should stop work on a cancelled request.',
    source: sources.cancellation,
  },
  begin: ({ fold }, say) => ({
    message(message) {
      if (!message.isAnswer) return
      const request = fold.entries.peer(message.row)
      if (request >= 0 && fold.entries.has(request, 'cancelled'))
        say(message, { message: `${message.method} was answered after it was cancelled`, also: [request] })
    },
  }),
}
