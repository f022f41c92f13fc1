import type { Rule, Say } from '../../finding.js'
import { at, canonicalText, isMap, textAt, type JsonMap } from '../../json.js'
import type { Message } from '../../message.js'
import { offersIn, type ServerState } from '../../server-state.js'
import { sources } from '../sources.js'

export const changedDefinition: Rule = {
  info: {
    id: 'safety/changed-definition',
    live: true,
    pack: 'safety',
    level: 'warning',
    certainty: 'exact',
    title: 'A definition changed within a session.',
    help: 'A person approved the first one. Review the change before the tool is called again.',
    source: sources.owasp,
    owasp: 'MCP03',
  },
  begin: ({ server }, say) => ({
    message(message) {
      for (const offer of offersIn(message)) {
        const known = server.offer(offer.kind, offer.name)
        if (!known || known.row === message.row) continue
        const text = JSON.stringify(offer.value)
        if (text === known.text) continue
        const fields = fieldsThatDiffer(known.offer.value, offer.value)
        if (fields.length === 0) continue
        say(message, {
          message: `the ${offer.kind} ${offer.name} changed: ${fields.join(', ')}`,
          at: offer.at,
          also: [known.row],
          what: `${offer.kind} ${offer.name} ${fields.join()}`,
          ...(offer.kind === 'tool' && { tool: offer.name }),
        })
      }
    },
  }),
}

/** Names of the members that differ; their order does not count. */
export function fieldsThatDiffer(before: JsonMap, after: JsonMap): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return names.filter((name) => canonicalText(before[name]) !== canonicalText(after[name]))
}

const mostOpen = 1_000
const changing = /^notifications\/(?:resources\/(?:updated|list_changed)|prompts\/list_changed)$/

/** Words of a name that say it changes something. */
const changes =
  /(?:^|[_.-])(?:delete|remove|drop|write|create|update|send|post|put|exec|execute|run|kill|move|rename|edit|insert)(?:$|[_.-])/

export const annotations: Rule = {
  info: {
    id: 'safety/annotation',
    live: true,
    pack: 'safety',
    level: 'note',
    certainty: 'pattern',
    title: 'A tool says that it only reads, and its name or what came of a call says otherwise.',
    help: 'Clients call a tool that only reads without asking. Check readOnlyHint.',
    source: sources.tools,
    owasp: 'MCP02',
  },
  begin({ server }, say) {
    /** Calls that wait for their answers, by row; of a client that floods, the first. */
    const open = new Map<number, string>()
    const saysOfChange = (message: Message): void => {
      const [only] = open
      if (!only || open.size > 1) return
      const [row, tool] = only
      const hint = at(server.offer('tool', tool)?.offer.value, 'annotations', 'readOnlyHint')
      if (hint !== true) return
      say(message, {
        message: `${tool} has readOnlyHint: true, and while it ran the server sent ${message.method}`,
        what: `${tool} ${message.method}`,
        tool,
        also: [row],
      })
    }
    return {
      message(message) {
        const { subject } = message.part.envelope
        if (message.asks('tools/call') && open.size < mostOpen) open.set(message.row, subject ?? '')
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
        message: `${name} has readOnlyHint: true, and its name says “${word}”`,
        at: `${place}/annotations/readOnlyHint`,
        tool: name,
      })
  }
}

interface KnownTools {
  /** Server by tool, of all recordings. */
  readonly servers: Map<string, string>
}

export const shadowing: Rule = {
  info: {
    id: 'safety/shadowing',
    pack: 'safety',
    level: 'warning',
    certainty: 'exact',
    title: 'Two servers of one run have a tool of the same name, or one describes a tool of the other.',
    help: 'An agent may call the wrong one. Rename it, or leave one server out.',
    source: sources.owasp,
    owasp: 'MCP09',
  },
  begin({ server, run }, say) {
    const id = 'safety/shadowing'
    let known = run.get(id) as KnownTools | undefined
    if (!known) run.set(id, (known = { servers: new Map() }))
    const { servers } = known
    return {
      message(message) {
        const own = server.name ?? ''
        for (const { kind, name, value, at: place } of offersIn(message)) {
          if (kind !== 'tool') continue
          const other = servers.get(name)
          if (other !== undefined && other !== own)
            say(message, {
              message: `${other} has a tool ${name} too`,
              at: `${place}/name`,
              tool: name,
              what: other,
            })
          else if (servers.size < 20_000) servers.set(name, own)
          const description = textAt(value, 'description') ?? ''
          for (const word of new Set(description.slice(0, 20_000).match(/[A-Za-z][\w-]*_[\w-]+/g))) {
            const of = servers.get(word)
            if (of !== undefined && of !== own)
              say(message, {
                message: `the description of ${name} names ${word}, a tool of ${of}`,
                at: `${place}/description`,
                tool: name,
                what: word,
              })
          }
        }
      },
    }
  },
}

const secretNames =
  /pass(?:word|phrase|code)|secret|api[_-]?key|access[_-]?token|\btoken\b|private[_-]?key|credit[_-]?card|\bcvv\b|\bpin\b/i

export const elicitSecret: Rule = {
  info: {
    id: 'safety/elicited-secret',
    live: true,
    pack: 'safety',
    level: 'error',
    certainty: 'exact',
    title: 'A server asks for a secret in a form.',
    help: 'Forms must not ask for passwords, tokens or keys: the answer passes the client. Use an elicitation with a URL.',
    source: sources.elicitation,
    owasp: 'MCP01',
  },
  begin: (_, say) => ({
    message(message) {
      if (!message.asks('elicitation/create')) return
      if ((textAt(message.params, 'mode') ?? 'form') !== 'form') return
      const properties = at(message.params, 'requestedSchema', 'properties')
      if (!isMap(properties)) return
      for (const [name, property] of Object.entries(properties)) {
        const words = [name.replaceAll(/([a-z])([A-Z])/g, '$1_$2'), textAt(property, 'title') ?? '']
        if (textAt(property, 'format') === 'password' || words.some((text) => secretNames.test(text)))
          say(message, {
            message: `the form asks for “${name}”`,
            at: `/params/requestedSchema/properties/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`,
          })
      }
    },
  }),
}
