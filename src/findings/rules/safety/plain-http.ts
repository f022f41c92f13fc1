import type { Rule } from '../../finding.js'
import { sources } from '../sources.js'

export const plainHttp: Rule = {
  info: {
    id: 'safety/plain-http',
    pack: 'safety',
    level: 'warning',
    certainty: 'exact',
    title: 'A server on another machine is reached over plain HTTP.',
    help: 'Tokens and results can be read and changed on the way. Use https.',
    source: sources.authorization,
    owasp: 'MCP07',
  },
  begin({ fold }, say) {
    return {
      end() {
        const url = fold.sessions.at(-1)?.url ?? ''
        if (/^http:\/\/(?!localhost[:/]|127\.|\[::1\])/i.test(`${url}/`))
          say(undefined, { message: `${new URL(url).host} is reached over plain HTTP` })
      },
    }
  },
}
