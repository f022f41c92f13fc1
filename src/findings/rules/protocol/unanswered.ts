import { isUnanswered } from '../../../model/index.js'
import type { Rule } from '../../finding.js'
import { sources } from '../sources.js'

export const unanswered: Rule = {
  info: {
    id: 'protocol/unanswered',
    pack: 'protocol',
    level: 'note',
    certainty: 'exact',
    title: 'A request has no response.',
    help: 'The receiver must answer each request. The session may have ended first: `wiretape inspect` shows its end.',
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
