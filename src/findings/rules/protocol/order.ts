import type { Rule } from '../../finding.js'
import { sources } from '../sources.js'

/** Requests allowed before `initialize`: `ping`, and those that determine the era. */
const early = /^(initialize|ping|server\/discover)$/

export const order: Rule = {
  info: {
    id: 'protocol/order',
    live: true,
    pack: 'protocol',
    level: 'error',
    certainty: 'exact',
    title: 'A request came before the session was initialized.',
    help: 'The first request of a session is initialize; all others wait for its result.',
    source: sources.lifecycle,
  },
  begin: ({ server }, say) => ({
    message(message) {
      const { kind, method = '', modern } = message.part.envelope
      if (kind !== 'request' || early.test(method) || modern) return
      const talk = server.conversation(message)
      if (talk.isModern || talk.isReady) return
      if (talk.initialized) {
        // Over HTTP, each is its own request and may overtake the other.
        if (server.transport === 'stdio')
          say(message, {
            message: `${method} was sent before notifications/initialized`,
            what: message.fromServer ? 'server early' : 'not ready',
            level: message.fromServer ? 'note' : 'warning',
            also: [talk.initialize],
          })
        return
      }
      // Over HTTP, a recording may begin in the middle of a session, and a connection need not open one.
      if (server.transport !== 'stdio') return
      if (talk.initialize < 0 && message.seq === 0)
        say(message, {
          message: `${method} is the first message of the session, not initialize`,
          what: 'first',
        })
      else if (talk.initialize >= 0)
        say(message, {
          message: `${method} was sent before the response to initialize`,
          what: 'early',
          level: 'warning',
          also: [talk.initialize],
        })
    },
  }),
}
