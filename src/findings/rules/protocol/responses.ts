import { isUnanswered } from '../../../model/index.js'
import type { Rule } from '../../finding.js'
import { sources } from '../sources.js'

export const secondResponse: Rule = {
  info: {
    id: 'protocol/second-response',
    pack: 'protocol',
    level: 'error',
    certainty: 'exact',
    title: 'A request was answered twice.',
    help: 'Clients drop the second response or the connection.',
    source: sources.jsonRpc,
  },
  begin: ({ fold }, say) => ({
    message(message) {
      if (!message.isAnswer || !fold.entries.has(message.row, 'late')) return
      const request = fold.entries.peer(message.row)
      say(message, {
        message: `a second response to ${message.method === '' ? 'one request' : message.method}`,
        what: message.method,
        also: request < 0 ? [] : [request],
      })
    },
  }),
}

export const strayResponse: Rule = {
  info: {
    id: 'protocol/stray-response',
    pack: 'protocol',
    level: 'warning',
    certainty: 'exact',
    title: 'A response belongs to no request on the recording.',
    help: 'Its id is that of no request: the sender changed it, or answers a request of another session.',
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
        // Behind a gap nothing is known about who asked.
        if (isWhole) for (const row of strays) say(row, { message: 'no request asked for this response' })
      },
    }
  },
}

export const unanswered: Rule = {
  info: {
    id: 'protocol/unanswered',
    pack: 'protocol',
    level: 'note',
    certainty: 'exact',
    title: 'A request has no response.',
    help: 'The receiver is to answer each request. The session may have ended first: `wiretape inspect` shows its end.',
    source: sources.base,
  },
  begin: ({ fold, server }, say) => ({
    end() {
      const { entries } = fold
      let said = 0
      for (let row = 0; row < entries.length && said < 100; row += 1) {
        if (!isUnanswered(entries, row)) continue
        said += 1
        const side =
          entries.direction(row) === 'client_to_server' ? (server.name ?? 'the server') : 'the client'
        say(row, { message: `${side} never answered this request`, what: entries.direction(row) })
      }
    },
  }),
}
