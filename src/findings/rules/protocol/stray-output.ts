import type { Rule } from '../../finding.js'
import { sources } from '../sources.js'

const http2 = 'PRI * HTTP/2.0'

export const strayOutput: Rule = {
  info: {
    id: 'protocol/stray-output',
    pack: 'protocol',
    level: 'error',
    certainty: 'exact',
    title: 'A line on stdin or stdout is not a message.',
    help: 'Many clients drop the connection at such a line. Logs belong on stderr.',
    source: sources.transports,
  },
  begin: (_, say) => ({
    record(record, row) {
      if (record.type !== 'noise') return
      const side = record.direction === 'server_to_client' ? 'The server' : 'The client'
      const text = record.text.slice(0, 80)
      const isHttp2 = record.text.startsWith(http2)
      say(row, {
        message: isHttp2
          ? `${side} started HTTP/2 on stdio: it mistakes the pipe for a network connection`
          : `${side} wrote a line that is not a message: ${text}`,
        what: isHttp2 ? 'http2' : record.direction,
      })
    },
  }),
}
