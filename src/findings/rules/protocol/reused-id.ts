import type { Rule } from '../../finding.js'
import { mostUsed } from '../limits.js'
import { sources } from '../sources.js'

export const ids: Rule = {
  info: {
    id: 'protocol/reused-id',
    pack: 'protocol',
    level: 'error',
    certainty: 'exact',
    title: 'A request has the id of an earlier request of the same session.',
    help: 'Responses cannot be told apart. The sender must use new ids.',
    source: sources.base,
  },
  begin({ fold, server }, say) {
    /** Row of the request with an id, by conversation, side and id. */
    let used = new Map<string, number>()
    return {
      message(message) {
        const { kind, id } = message.part.envelope
        if (
          kind !== 'request' ||
          id === undefined ||
          (message.record.type === 'message' && message.record.injected)
        )
          return
        const key = `${message.record.conversation ?? ''} ${message.direction} ${id}`
        const before = used.get(key)
        if (fold.entries.has(message.row, 'duplicate'))
          say(message, {
            message: `the id ${id.slice(0, 80)} belongs to a request that is not answered yet`,
            what: 'open',
            ...(before !== undefined && { also: [before] }),
          })
        else if (before !== undefined && isOneSession(message.record.conversation, server.transport))
          say(message, {
            message: `the id ${id.slice(0, 80)} was already used in this session`,
            what: 'used',
            also: [before],
          })
        if (used.size >= mostUsed) used = new Map()
        used.set(key, message.row)
      },
    }
  },
}

/** The modern era has no sessions, and clients may share an HTTP connection. */
function isOneSession(conversation: string | undefined, transport: string): boolean {
  return transport === 'stdio' && conversation === undefined
}
