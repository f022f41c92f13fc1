import type { Rule } from '../../finding.js'
import { at } from '../../json.js'
import { mostOpen } from '../limits.js'
import { sources } from '../sources.js'

export const progress: Rule = {
  info: {
    id: 'protocol/progress',
    pack: 'protocol',
    level: 'error',
    certainty: 'exact',
    title: 'Progress decreased, or came after the response.',
    help: 'The value must grow with each notification, and notifications stop with the response.',
    source: sources.progress,
  },
  begin({ fold }, say) {
    /** Last progress value per request. */
    let last = new Map<number, number>()
    return {
      message(message) {
        if (!message.asks('notifications/progress')) return
        const request = fold.entries.linked(message.row)
        const value = at(message.params, 'progress')
        if (request < 0 || typeof value !== 'number') return
        const before = last.get(request)
        const answer = fold.entries.peer(request)
        if (before !== undefined && value <= before)
          say(message, {
            message: `progress ${value} does not exceed the previous value ${before}`,
            what: 'back',
            also: [request],
          })
        else if (answer >= 0 && answer < message.row && !isTask(fold.entries.linked(answer)))
          say(message, {
            message: 'progress for a request that was already answered',
            what: 'after',
            also: [answer],
            level: 'warning',
          })
        if (last.size > mostOpen) last = new Map()
        last.set(request, value)
      },
    }
  },
}

/** Whether the response only created a task: its progress continues. */
function isTask(linked: number): boolean {
  return linked >= 0
}
