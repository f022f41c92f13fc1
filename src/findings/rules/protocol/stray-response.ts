import type { Rule } from '../../finding.js'
import { sources } from '../sources.js'

export const strayResponse: Rule = {
  info: {
    id: 'protocol/stray-response',
    pack: 'protocol',
    level: 'warning',
    certainty: 'exact',
    title: 'A response matches no request on the recording.',
    help: 'The sender changed the id, or answered a request of another session.',
    source: sources.jsonRpc,
  },
  begin({ fold }, say) {
    const strays: number[] = []
    let isWhole = true
    return {
      message(message) {
        if (message.isAnswer && fold.entries.has(message.row, 'orphan') && strays.length < 100)
          strays.push(message.row)
      },
      record(record) {
        if (record.type === 'gap') isWhole = false
      },
      end() {
        // After a gap, the request may be missing from the recording.
        if (isWhole) for (const row of strays) say(row, { message: 'no request matches this response' })
      },
    }
  },
}
