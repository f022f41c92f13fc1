import { checkSchema } from '../../../compare/index.js'
import type { Rule } from '../../finding.js'
import { at, isMap } from '../../json.js'
import { sources } from '../sources.js'
import { describeFaults, hiddenBelow } from './faults.js'

export const outputSchema: Rule = {
  info: {
    id: 'schemas/output',
    live: true,
    pack: 'schemas',
    level: 'error',
    certainty: 'exact',
    title: 'A tool result does not match the tool’s outputSchema.',
    help: 'Clients that check it discard the result. Correct the schema or the structuredContent.',
    source: sources.tools,
  },
  begin: ({ server }, say) => ({
    message(message) {
      if (!message.answers('tools/call') || message.part.envelope.kind !== 'result') return
      const { tool } = message
      const schema =
        tool === undefined ? undefined : at(server.offer('tool', tool)?.offer.value, 'outputSchema')
      if (!isMap(schema) || message.part.envelope.toolError || message.part.envelope.createsTask) return
      const { resultType } = message.part.envelope
      if (resultType !== undefined && resultType !== 'complete') return
      const place = '/result/structuredContent'
      const content = at(message.result, 'structuredContent')
      if (content === undefined) {
        if (message.value !== undefined && !message.isRedactedAt(place))
          say(message, {
            message: `${tool} has an outputSchema, but its result has no structuredContent`,
            at: '/result',
            what: 'missing',
          })
        return
      }
      const faults = checkSchema(schema, content, hiddenBelow(message, place))
      if (faults.length > 0)
        say(message, {
          message: `structuredContent of ${tool}: ${describeFaults(faults)}`,
          at: `${place}${faults[0]!.at}`,
        })
    },
  }),
}
