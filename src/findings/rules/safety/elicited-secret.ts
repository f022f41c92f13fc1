import { pointerStep } from '../../../wire/index.js'
import type { Rule } from '../../finding.js'
import { at, isMap, textAt } from '../../json.js'
import { sources } from '../sources.js'

const secretNames =
  /pass(?:word|phrase|code)|secret|api[_-]?key|access[_-]?token|\btoken\b|private[_-]?key|credit[_-]?card|\bcvv\b|\bpin\b/i

export const elicitSecret: Rule = {
  info: {
    id: 'safety/elicited-secret',
    live: true,
    pack: 'safety',
    level: 'error',
    certainty: 'exact',
    title: 'A server requests a secret in a form.',
    help: 'Forms must not ask for passwords, tokens or keys: the response passes through the client. Use an elicitation with a URL.',
    source: sources.elicitation,
    owasp: 'MCP01',
  },
  begin: (_, say) => ({
    message(message) {
      if (!message.asks('elicitation/create')) return
      if ((textAt(message.params, 'mode') ?? 'form') !== 'form') return
      const properties = at(message.params, 'requestedSchema', 'properties')
      if (!isMap(properties)) return
      for (const [name, property] of Object.entries(properties)) {
        const words = [name.replaceAll(/([a-z])([A-Z])/g, '$1_$2'), textAt(property, 'title') ?? '']
        if (textAt(property, 'format') === 'password' || words.some((text) => secretNames.test(text)))
          say(message, {
            message: `the form asks for “${name}”`,
            at: `/params/requestedSchema/properties${pointerStep(name)}`,
          })
      }
    },
  }),
}
