import type { Rule } from '../../finding.js'
import { sources } from '../sources.js'

export const secondResponse: Rule = {
  info: {
    id: 'protocol/second-response',
    pack: 'protocol',
    level: 'error',
    certainty: 'exact',
    title: 'A request was answered twice.',
    help: 'Clients drop the second response or the connection.',
    source: sources.jsonRpc,
  },
  begin: ({ fold }, say) => ({
    message(message) {
      if (!message.isAnswer || !fold.entries.has(message.row, 'late')) return
      const request = fold.entries.peer(message.row)
      say(message, {
        message: `a second response to ${message.method === '' ? 'one request' : message.method}`,
        what: message.method,
        also: request < 0 ? [] : [request],
      })
    },
  }),
}
