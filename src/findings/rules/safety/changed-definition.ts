import type { Rule } from '../../finding.js'
import { canonicalText, type JsonMap } from '../../json.js'
import { offersIn } from '../../server-state.js'
import { sources } from '../sources.js'

export const changedDefinition: Rule = {
  info: {
    id: 'safety/changed-definition',
    live: true,
    pack: 'safety',
    level: 'warning',
    certainty: 'exact',
    title: 'A definition changed within a session.',
    help: 'A person approved the first version. Review the change before the tool is called again.',
    source: sources.owasp,
    owasp: 'MCP03',
  },
  begin: ({ server }, say) => ({
    message(message) {
      for (const offer of offersIn(message)) {
        const known = server.offer(offer.kind, offer.name)
        if (!known || known.row === message.row) continue
        const text = JSON.stringify(offer.value)
        if (text === known.text) continue
        const fields = fieldsThatDiffer(known.offer.value, offer.value)
        if (fields.length === 0) continue
        say(message, {
          message: `the ${offer.kind} ${offer.name} changed: ${fields.join(', ')}`,
          at: offer.at,
          also: [known.row],
          what: `${offer.kind} ${offer.name} ${fields.join()}`,
          ...(offer.kind === 'tool' && { tool: offer.name }),
        })
      }
    },
  }),
}

/** Names of the differing members, regardless of order. */
function fieldsThatDiffer(before: JsonMap, after: JsonMap): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return names.filter((name) => canonicalText(before[name]) !== canonicalText(after[name]))
}
