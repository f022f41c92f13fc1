import type { Rule } from '../../finding.js'
import { mostUsed } from '../limits.js'
import { sources } from '../sources.js'

export const eventId: Rule = {
  info: {
    id: 'protocol/event-id',
    pack: 'protocol',
    level: 'error',
    certainty: 'exact',
    title: 'A server used one event id for two messages.',
    help: 'A client that resumes a stream gets the wrong messages. Ids must be unique across all streams of a session.',
    source: sources.transports,
  },
  begin(_, say) {
    /** The event with each id; a resumed stream repeats it. */
    const seen = new Map<
      string,
      { readonly row: number; readonly length: number; readonly id: string | undefined }
    >()
    return {
      message(message) {
        const { conversation = '', sse } = message.record
        const id = sse?.id
        if (id === undefined || id === '' || !message.fromServer) return
        const { envelope } = message.part
        const here = { row: message.row, length: message.text.length, id: envelope.id }
        const key = `${conversation}\u0000${id}`
        const before = seen.get(key)
        if (!before) {
          if (seen.size < mostUsed) seen.set(key, here)
        } else if (before.length !== here.length || before.id !== here.id)
          say(message, {
            message: `the event id ${id} was already used for another message`,
            also: [before.row],
          })
      },
    }
  },
}
