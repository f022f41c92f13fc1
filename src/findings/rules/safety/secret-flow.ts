import type { Rule } from '../../finding.js'
import type { Message } from '../../message.js'
import { sources } from '../sources.js'
import { crossingOf, mostRemembered, ofRun, remember, type Crossing } from './crossings.js'

/** Tags of redacted values below a place in a message, with their pointers. */
function tagsBelow({ record }: Message, place: string): (readonly [tag: string, pointer: string])[] {
  return (record.red ?? []).flatMap(({ at: pointer, tag }) => {
    const own = record.batch ? pointer.replace(/^\/\d+/, '') : pointer
    return own.startsWith(place) ? [[tag, own] as const] : []
  })
}

/**
 * Tapes of one run, and of recorders with the same `--tag-key`, give equal secrets equal tags. The order of the files
 * does not matter, only the times do.
 */
export const secretFlow: Rule = {
  info: {
    id: 'safety/secret-flow',
    pack: 'safety',
    level: 'warning',
    certainty: 'exact',
    title: 'A secret from one server was sent to another server.',
    help: 'Tokens belong to the server that they were issued for. Make sure that a person wanted this.',
    source: sources.owasp,
    owasp: 'MCP01',
  },
  begin(scope, say) {
    const { server } = scope
    const given = ofRun(scope, 'secrets given', () => new Map<string, Crossing>())
    const used = ofRun(scope, 'secrets used', () => new Map<string, Crossing>())
    /** Secrets that the client had before any server provided them. */
    const known = new Set<string>()
    return {
      message(message) {
        const isCall = message.asks('tools/call')
        if (!isCall && !message.answers('tools/call')) return
        const here = crossingOf(message, server)
        for (const [tag, pointer] of tagsBelow(message, isCall ? '/params' : '/result')) {
          if (isCall) {
            if (known.size < mostRemembered) known.add(tag)
            const from = given.get(tag)
            if (from && from.server !== here.server && from.t <= here.t)
              say(message, { message: words(from, here), at: pointer, what: `${from.server} ${pointer}` })
            remember(used, tag, here)
          } else if (!known.has(tag)) {
            remember(given, tag, here)
            const to = used.get(tag)
            if (to && to.server !== here.server && here.t <= to.t)
              say(message, { message: words(here, to), at: pointer, what: `${to.server} ${pointer}` })
          }
        }
      },
    }
  },
}

function words(from: Crossing, to: Crossing): string {
  return `a secret from ${from.tool} of ${from.server || 'a server'} was sent to ${to.tool} of ${to.server || 'a server'}`
}
