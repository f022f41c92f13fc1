import type { Rule } from '../../finding.js'
import { textAt } from '../../json.js'
import { offersIn } from '../../server-state.js'
import { sources } from '../sources.js'

interface KnownTools {
  /** Server by tool, for all recordings. */
  readonly servers: Map<string, string>
}

export const shadowing: Rule = {
  info: {
    id: 'safety/shadowing',
    pack: 'safety',
    level: 'warning',
    certainty: 'exact',
    title: 'Two servers of one run have a tool of the same name, or one describes a tool of the other.',
    help: 'An agent may call the wrong one. Rename it, or remove one server.',
    source: sources.owasp,
    owasp: 'MCP09',
  },
  begin({ server, run }, say) {
    const id = 'safety/shadowing'
    let known = run.get(id) as KnownTools | undefined
    if (!known) run.set(id, (known = { servers: new Map() }))
    const { servers } = known
    return {
      message(message) {
        const own = server.name ?? ''
        for (const { kind, name, value, at: place } of offersIn(message)) {
          if (kind !== 'tool') continue
          const other = servers.get(name)
          if (other !== undefined && other !== own)
            say(message, {
              message: `${other} also has a tool ${name}`,
              at: `${place}/name`,
              tool: name,
              what: other,
            })
          else if (servers.size < 20_000) servers.set(name, own)
          const description = textAt(value, 'description') ?? ''
          for (const word of new Set(description.slice(0, 20_000).match(/[A-Za-z][\w-]*_[\w-]+/g))) {
            const of = servers.get(word)
            if (of !== undefined && of !== own)
              say(message, {
                message: `the description of ${name} names ${word}, a tool of ${of}`,
                at: `${place}/description`,
                tool: name,
                what: word,
              })
          }
        }
      },
    }
  },
}
