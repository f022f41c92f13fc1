import type { Rule } from '../../finding.js'
import { headerOf } from '../../message.js'
import { sources } from '../sources.js'

/** Conversations, and ids of events, that are remembered. */
const most = 50_000

export const reusedSession: Rule = {
  info: {
    id: 'protocol/reused-session',
    pack: 'protocol',
    level: 'error',
    certainty: 'exact',
    title: 'A server gave one session id to two sessions.',
    help: 'Each of the two clients can see and do what is the other’s. Session ids must be unique.',
    source: sources.transports,
    owasp: 'MCP07',
  },
  begin({ server }, say) {
    const opened = new Map<string, number>()
    return {
      message(message) {
        const { conversation } = message.record
        if (server.transport !== 'streamable-http' || conversation === undefined) return
        if (!message.answers('initialize') || message.part.envelope.kind !== 'result') return
        const before = opened.get(conversation)
        if (before === undefined) {
          if (opened.size < most) opened.set(conversation, message.row)
        } else
          say(message, {
            message: 'the session id of this answer belongs to an earlier session',
            also: [before],
          })
      },
    }
  },
}

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
    /** What came under an id; a stream that is resumed repeats it. */
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
          if (seen.size < most) seen.set(key, here)
        } else if (before.length !== here.length || before.id !== here.id)
          say(message, { message: `the event id ${id} came with another message before`, also: [before.row] })
      },
    }
  },
}

/** Sixteen hexadecimal digits have 64 bits. */
const fewCharacters = 16

export const shortSession: Rule = {
  info: {
    id: 'protocol/short-session',
    pack: 'protocol',
    level: 'warning',
    certainty: 'strong',
    title: 'A session id can be guessed.',
    help: 'Who has the id has the session. It should be random and unique, such as a UUID.',
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
