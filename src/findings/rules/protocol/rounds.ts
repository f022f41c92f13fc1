import { detach } from '../../../model/index.js'
import type { Rule } from '../../finding.js'
import { sources } from '../sources.js'

const mostStates = 10_000

export const requestState: Rule = {
  info: {
    id: 'protocol/request-state',
    live: true,
    pack: 'protocol',
    level: 'error',
    certainty: 'exact',
    title: 'A retry brings a requestState that the server never gave.',
    help: 'Clients give the state back exactly as they got it. A changed one may be an attack on the server.',
    source: sources.modernRounds,
    owasp: 'MCP07',
  },
  begin(_, say) {
    let given = new Set<string>()
    let isComplete = true
    return {
      message(message) {
        const { requestState: state, kind, inputResponses } = message.part.envelope
        if (kind === 'result' && message.fromServer && state !== undefined) {
          if (given.size > mostStates) {
            given = new Set()
            isComplete = false
          }
          given.add(detach(state))
        } else if (kind === 'request' && !message.fromServer) {
          if (message.isRedactedAt('/params/requestState')) return
          if (state !== undefined && isComplete && !given.has(state))
            say(message, { message: 'its requestState is none that the server gave', what: 'unknown' })
          if (
            state === undefined &&
            inputResponses !== undefined &&
            inputResponses.length > 0 &&
            given.size > 0
          )
            say(message, {
              message: 'it brings input responses without the requestState',
              what: 'missing',
              level: 'note',
            })
        }
      },
      record(record) {
        if (record.type === 'gap') isComplete = false
      },
    }
  },
}
