import { detach } from '../../../model/index.js'
import type { Rule } from '../../finding.js'
import { sources } from '../sources.js'
import { eachCredential } from './each-credential.js'

const mostTags = 50_000

export const tokenPassthrough: Rule = {
  info: {
    id: 'safety/token-passthrough',
    pack: 'safety',
    level: 'warning',
    certainty: 'exact',
    title: 'One token was sent to two servers.',
    help: 'Each of them can act as the client at the other one. A client uses a token of its own for each server.',
    source: sources.security,
    owasp: 'MCP01',
  },
  begin: eachCredential(({ run }) => {
    const key = 'origins of credentials'
    const origins = (run.get(key) ?? new Map()) as Map<string, string>
    run.set(key, origins)
    return (credential, origin, where, say) => {
      const tag = / tag=([\da-f]{16})/.exec(credential)?.[1]
      if (tag === undefined) return
      const other = origins.get(tag)
      if (other === undefined) {
        if (origins.size < mostTags) origins.set(detach(tag), origin)
      } else if (other !== origin) say(where, { message: `its token was sent to ${other} too`, what: other })
    }
  }),
}
