import type { Rule } from '../../finding.js'
import { sources } from '../sources.js'

const clientOnly =
  /^(initialize|tools\/(list|call)|prompts\/(list|get)|resources\/(list|read|subscribe|unsubscribe|templates\/list)|completion\/complete|logging\/setLevel|server\/discover|subscriptions\/listen|notifications\/(initialized|roots\/list_changed))$/
const serverOnly =
  /^(sampling\/createMessage|elicitation\/create|roots\/list|notifications\/(message|tools\/list_changed|prompts\/list_changed|resources\/list_changed|resources\/updated|elicitation\/complete))$/

export const direction: Rule = {
  info: {
    id: 'protocol/direction',
    live: true,
    pack: 'protocol',
    level: 'error',
    certainty: 'exact',
    title: 'A message was sent by the wrong side.',
    help: 'Each method belongs to one side; the other side does not know it.',
    source: sources.base,
  },
  begin: (_, say) => ({
    message(message) {
      const { method } = message.part.envelope
      if (method === undefined) return
      if (message.fromServer ? !clientOnly.test(method) : !serverOnly.test(method)) return
      say(message, {
        message: `${method} was sent by the ${message.fromServer ? 'server' : 'client'}`,
        what: method,
      })
    },
  }),
}
