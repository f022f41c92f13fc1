import { detach } from '../../../model/index.js'
import type { Rule, Say } from '../../finding.js'
import { at } from '../../json.js'
import type { Message } from '../../message.js'
import { offersIn, type ServerState } from '../../server-state.js'
import { sources } from '../sources.js'

const mostOpen = 1_000

const changing = /^notifications\/(?:resources\/(?:updated|list_changed)|prompts\/list_changed)$/

/** Words in a name that imply changes. */
const changes =
  /(?:^|[_.-])(?:delete|remove|drop|write|create|update|send|post|put|exec|execute|run|kill|move|rename|edit|insert)(?:$|[_.-])/

export const annotations: Rule = {
  info: {
    id: 'safety/annotation',
    live: true,
    pack: 'safety',
    level: 'note',
    certainty: 'pattern',
    title: 'A tool is annotated as read-only, but its name or the outcome of a call contradicts that.',
    help: 'Clients call read-only tools without asking. Check readOnlyHint.',
    source: sources.tools,
    owasp: 'MCP02',
  },
  begin({ server }, say) {
    /** Open calls, by row; for a flooding client, only the first ones. */
    const open = new Map<number, string>()
    const saysOfChange = (message: Message): void => {
      const [only] = open
      if (!only || open.size > 1) return
      const [row, tool] = only
      const hint = at(server.offer('tool', tool)?.offer.value, 'annotations', 'readOnlyHint')
      if (hint !== true) return
      say(message, {
        message: `${tool} has readOnlyHint: true, but the server sent ${message.method} during the call`,
        what: `${tool} ${message.method}`,
        tool,
        also: [row],
      })
    }
    return {
      message(message) {
        const { subject } = message.part.envelope
        if (message.asks('tools/call') && open.size < mostOpen) open.set(message.row, detach(subject ?? ''))
        else if (message.answers('tools/call')) open.delete(message.asked!.row)
        else if (message.fromServer && !message.isAnswer && changing.test(message.method))
          saysOfChange(message)
        else namedOtherwise(message, server, say)
      },
    }
  },
}

function namedOtherwise(message: Message, server: ServerState, say: Say): void {
  for (const { kind, name, value, at: place } of offersIn(message)) {
    if (kind !== 'tool' || at(value, 'annotations', 'readOnlyHint') !== true) continue
    if (server.offer('tool', name) !== undefined) continue
    const plain = name.replaceAll(/([a-z])([A-Z])/g, '$1_$2').toLowerCase()
    const word = changes.exec(plain)?.[0].replaceAll(/[_.-]/g, '')
    if (word !== undefined)
      say(message, {
        message: `${name} has readOnlyHint: true, but its name contains “${word}”`,
        at: `${place}/annotations/readOnlyHint`,
        tool: name,
      })
  }
}
