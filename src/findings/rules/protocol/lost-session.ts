import type { Rule } from '../../finding.js'
import { mostOpen } from '../limits.js'
import { sources } from '../sources.js'

export const lostSession: Rule = {
  info: {
    id: 'protocol/lost-session',
    pack: 'protocol',
    level: 'warning',
    certainty: 'strong',
    title: 'A client continued a session that the server had ended.',
    help: 'After HTTP 404 a client must begin a new session with initialize; otherwise it never recovers.',
    source: sources.transports,
  },
  begin({ server }, say) {
    const lost = new Set<string>()
    const lose = (conversation: string | undefined): void => {
      if (conversation !== undefined && lost.size < mostOpen) lost.add(conversation)
    }
    return {
      message(message) {
        const { conversation, http } = message.record
        if (message.fromServer) {
          if (http?.status === 404 && server.transport === 'streamable-http') lose(conversation)
        } else if (conversation !== undefined && !message.asks('initialize') && lost.delete(conversation))
          say(message, { message: `${message.method || 'a message'} was sent after HTTP 404` })
      },
      record(record) {
        if (record.type === 'http' && record.status === 404 && record.method === 'POST')
          lose(record.conversation)
      },
    }
  },
}
