import type { Rule } from '../../finding.js'
import { headerOf } from '../../message.js'
import { sources } from '../sources.js'

/** Sixteen hexadecimal digits are 64 bits. */
const fewCharacters = 16

export const shortSession: Rule = {
  info: {
    id: 'protocol/short-session',
    pack: 'protocol',
    level: 'warning',
    certainty: 'strong',
    title: 'A session id can be guessed.',
    help: 'Anyone with the id can use the session. It should be random and unique, such as a UUID.',
    source: sources.security,
    owasp: 'MCP07',
  },
  begin: (_, say) => ({
    message(message) {
      if (!message.fromServer) return
      const id = headerOf(message, 'mcp-session-id')
      const characters = /^\[REDACTED\] \((\d{1,2}) characters?\)$/.exec(id ?? '')?.[1]
      const length = characters === undefined ? Infinity : Number(characters)
      if (length < fewCharacters)
        say(message, { message: `the session id has ${length} characters`, what: 'short' })
    },
  }),
}
