import { detach } from '../../../model/index.js'
import type { Rule } from '../../finding.js'
import { mostUsed } from '../limits.js'
import { sources } from '../sources.js'
import { eachCredential } from './each-credential.js'

export const tokenPassthrough: Rule = {
  info: {
    id: 'safety/token-passthrough',
    pack: 'safety',
    level: 'warning',
    certainty: 'exact',
    title: 'One token was sent to two servers.',
    help: 'Each can act as the client at the other. A client needs a separate token for each server.',
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
        if (origins.size < mostUsed) origins.set(detach(tag), origin)
      } else if (other !== origin)
        say(where, { message: `the same token was also sent to ${other}`, what: other })
    }
  }),
}
