import type { Rule } from '../../finding.js'
import { sources } from '../sources.js'

const old =
  /^(roots\/list|sampling\/createMessage|logging\/setLevel|notifications\/(message|roots\/list_changed))$/

export const deprecated: Rule = {
  info: {
    id: 'protocol/deprecated',
    pack: 'protocol',
    level: 'note',
    certainty: 'exact',
    title: 'A message belongs to a deprecated feature.',
    help: 'Roots, sampling and logging are deprecated in 2026-07-28.',
    source: sources.modern,
  },
  begin: ({ server }, say) => ({
    message(message) {
      const { method } = message.part.envelope
      if (method !== undefined && old.test(method) && server.conversation(message).isModern)
        say(message, { message: `${method} is deprecated in this version`, what: method })
    },
  }),
}
