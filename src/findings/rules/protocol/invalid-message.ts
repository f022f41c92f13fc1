import type { Rule } from '../../finding.js'
import { sources } from '../sources.js'

export const invalidMessage: Rule = {
  info: {
    id: 'protocol/invalid-message',
    live: true,
    pack: 'protocol',
    level: 'error',
    certainty: 'exact',
    title: 'A message is JSON but not JSON-RPC 2.0.',
    help: 'The other side cannot read it. A message must be a request, a notification or a response.',
    source: sources.jsonRpc,
  },
  begin: (_, say) => ({
    message(message) {
      const { kind, problem, odd } = message.part.envelope
      if (kind === 'invalid')
        say(message, { message: problem ?? 'the message is not JSON-RPC', what: problem ?? '' })
      else if (odd)
        say(message, {
          message: `the ${message.isAnswer ? 'result' : 'params'} member is not an object`,
          what: 'odd',
        })
    },
  }),
}
