import { detach } from '../../../model/index.js'
import type { Rule } from '../../finding.js'
import type { Message } from '../../message.js'
import { mostOpen } from '../limits.js'
import { sources } from '../sources.js'

/** A result that requests inputs from the client. */
interface Round {
  readonly hasState: boolean
  readonly inputs: readonly string[]
  readonly row: number
}

function callOf(message: Message, subject = ''): string {
  return JSON.stringify([message.record.conversation ?? '', message.method, detach(subject)])
}

export const requestState: Rule = {
  info: {
    id: 'protocol/request-state',
    live: true,
    pack: 'protocol',
    level: 'error',
    certainty: 'exact',
    title: 'The requestState of a retry is missing, or is not the one that the server gave.',
    help: 'Clients must return it unchanged. A changed one may be an attack on the server.',
    source: sources.modernRounds,
    owasp: 'MCP07',
  },
  begin(_, say) {
    let given = new Set<string>()
    let isComplete = true
    /** The last round of each call, by conversation, method and subject. */
    const rounds = new Map<string, Round>()
    return {
      message(message) {
        const { requestState: state, kind, inputResponses } = message.part.envelope
        if (kind === 'result' && message.fromServer && state !== undefined) {
          if (given.size > mostOpen) {
            given = new Set()
            isComplete = false
          }
          given.add(detach(state))
        }
        if (
          kind === 'result' &&
          message.fromServer &&
          message.part.envelope.resultType === 'input_required'
        ) {
          if (message.asked && rounds.size < mostOpen)
            rounds.set(callOf(message, message.asked.subject), {
              hasState: state !== undefined,
              inputs: (message.part.envelope.inputRequests ?? []).map(detach),
              row: message.row,
            })
        } else if (kind === 'request' && !message.fromServer) {
          if (message.isRedactedAt('/params/requestState')) return
          if (state !== undefined && isComplete && !given.has(state))
            say(message, { message: 'the server did not give this requestState', what: 'unknown' })
          if (state !== undefined || inputResponses === undefined || inputResponses.length === 0) return
          const round = rounds.get(callOf(message, message.part.envelope.subject))
          if (round?.hasState && inputResponses.every((name) => round.inputs.includes(name)))
            say(message, {
              message: 'the retry has the requested inputs but no requestState',
              what: 'missing',
              also: [round.row],
            })
        }
      },
      record(record) {
        if (record.type === 'gap') isComplete = false
      },
    }
  },
}
