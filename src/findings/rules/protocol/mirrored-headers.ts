import { decodedHeader, isSameHeader, standardHeaders } from '../../../wire/index.js'
import type { Rule } from '../../finding.js'
import { headerOf } from '../../message.js'
import { sources } from '../sources.js'

export const mirroredHeaders: Rule = {
  info: {
    id: 'protocol/mirrored-headers',
    pack: 'protocol',
    level: 'error',
    certainty: 'exact',
    title: 'An Mcp-* header is missing or differs from the body.',
    help: 'From 2026-07-28 on, servers reject such a request with error -32020.',
    source: sources.modernTransports,
  },
  begin: (_, say) => ({
    message(message) {
      const { envelope } = message.part
      if (
        message.fromServer ||
        !envelope.modern ||
        envelope.kind !== 'request' ||
        !message.record.http?.headers
      )
        return
      for (const [name, value] of standardHeaders(envelope)) {
        const said = headerOf(message, name.toLowerCase())
        if (said === undefined) {
          say(message, { message: `the header ${name} is missing`, what: name })
          continue
        }
        const [there, wanted] = [decodedHeader(said), decodedHeader(value)]
        if (there === undefined || wanted === undefined || !isSameHeader(there, wanted))
          say(message, {
            message: `${name} is ${said.slice(0, 200)}, but the body has ${value.slice(0, 200)}`,
            what: name,
          })
      }
    },
  }),
}
