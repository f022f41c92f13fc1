import { checkSchema } from '../../../compare/index.js'
import type { Rule } from '../../finding.js'
import { at, isMap } from '../../json.js'
import { sources } from '../sources.js'
import { describeFaults, hiddenBelow } from './faults.js'

export const elicitationAnswer: Rule = {
  info: {
    id: 'schemas/elicitation',
    live: true,
    pack: 'schemas',
    level: 'error',
    certainty: 'exact',
    title: 'The response to an elicitation does not match the requested form.',
    help: 'Clients check it against requestedSchema before they send it.',
    source: sources.elicitation,
  },
  begin: (_, say) => ({
    message(message) {
      if (!message.answers('elicitation/create') || message.part.envelope.kind !== 'result') return
      const schema = at(message.asked!.params, 'requestedSchema')
      const content = at(message.result, 'content')
      if (!isMap(schema) || at(message.result, 'action') !== 'accept' || content === undefined) return
      const faults = checkSchema(schema, content, hiddenBelow(message, '/result/content'))
      if (faults.length > 0)
        say(message, {
          message: `the response:  ${describeFaults(faults)}`,
          at: `/result/content${faults[0]!.at}`,
          also: [message.asked!.row],
        })
    },
  }),
}
