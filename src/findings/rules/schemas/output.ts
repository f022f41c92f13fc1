import { checkSchema, type SchemaFault } from '../../../compare/index.js'
import type { Rule } from '../../finding.js'
import { at, isMap, type Json } from '../../json.js'
import type { Message } from '../../message.js'
import { sources } from '../sources.js'

/** Pointers of values that redaction took out, below a place of the message. */
export function hiddenBelow(message: Message, place: string): Set<string> {
  const marks = message.record.red ?? []
  return new Set(
    marks.flatMap(({ at: pointer }) => {
      const own = message.record.batch ? pointer.replace(/^\/\d+/, '') : pointer
      return own.startsWith(place) ? [own.slice(place.length)] : []
    }),
  )
}

/** `/a/b is a string, not a number`, of very many the first three. */
export function describeFaults(faults: readonly SchemaFault[]): string {
  const shown = faults.slice(0, 3).map((fault) => `${fault.at === '' ? 'it' : fault.at} ${fault.problem}`)
  const more = faults.length > 3 ? `, and ${faults.length - 3} more` : ''
  return `${shown.join('; ')}${more}`
}

export const outputSchema: Rule = {
  info: {
    id: 'schemas/output',
    live: true,
    pack: 'schemas',
    level: 'error',
    certainty: 'exact',
    title: 'A tool result does not fit the tool’s outputSchema.',
    help: 'Clients that check it throw the result away. Mend the schema or the structuredContent.',
    source: sources.tools,
  },
  begin: ({ server }, say) => ({
    message(message) {
      if (!message.answers('tools/call') || message.part.envelope.kind !== 'result') return
      const { tool } = message
      const schema =
        tool === undefined ? undefined : at(server.offer('tool', tool)?.offer.value, 'outputSchema')
      if (!isMap(schema) || message.part.envelope.toolError || message.part.envelope.createsTask) return
      const { resultType } = message.part.envelope
      if (resultType !== undefined && resultType !== 'complete') return
      const place = '/result/structuredContent'
      const content = at(message.result, 'structuredContent')
      if (content === undefined) {
        if (message.value !== undefined && !message.isRedactedAt(place))
          say(message, {
            message: `${tool} has an outputSchema, but its result has no structuredContent`,
            at: '/result',
            what: 'missing',
          })
        return
      }
      const faults = checkSchema(schema, content, hiddenBelow(message, place))
      if (faults.length > 0)
        say(message, {
          message: `structuredContent of ${tool}: ${describeFaults(faults)}`,
          at: `${place}${faults[0]!.at}`,
        })
    },
  }),
}

export const inputSchema: Rule = {
  info: {
    id: 'schemas/input',
    live: true,
    pack: 'schemas',
    level: 'warning',
    certainty: 'exact',
    title: 'A tool was called with arguments that do not fit its inputSchema, and did not refuse them.',
    help: 'The model guessed. A server that checks its arguments can tell it what is wrong.',
    source: sources.tools,
  },
  begin: ({ server }, say) => ({
    message(message) {
      if (!message.answers('tools/call') || message.fromServer === message.asked!.fromServer) return
      const { tool, asked } = message
      const offer = tool === undefined ? undefined : server.offer('tool', tool)
      const schema = at(offer?.offer.value, 'inputSchema')
      const params = isMap(schema) ? asked!.params : undefined
      if (!isMap(schema) || params === undefined) return
      const given: Json = at(params, 'arguments') ?? {}
      // Secrets in arguments are gone from the recording: what stands there says nothing.
      const faults = checkSchema(schema, given).filter((fault) => !isMarked(given, fault.at))
      if (faults.length === 0) return
      const { kind, toolError } = message.part.envelope
      const isRefused = kind === 'error' || toolError === true
      say(asked!.row, {
        message: `arguments of ${tool}: ${describeFaults(faults)}`,
        at: `/params/arguments${faults[0]!.at}`,
        tool,
        also: [message.row],
        ...(isRefused && { level: 'note' as const }),
      })
    },
  }),
}

function isMarked(value: Json, pointer: string): boolean {
  const path = pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  let found: Json | undefined = value
  for (const step of path) found = Array.isArray(found) ? found[Number(step)] : at(found, step)
  return typeof found === 'string' && found.includes('[REDACTED')
}

export const elicitationAnswer: Rule = {
  info: {
    id: 'schemas/elicitation',
    live: true,
    pack: 'schemas',
    level: 'error',
    certainty: 'exact',
    title: 'An answer to an elicitation does not fit the form that was asked for.',
    help: 'Clients check the answer against requestedSchema before they send it.',
    source: sources.elicitation,
  },
  begin: (_, say) => ({
    message(message) {
      if (!message.answers('elicitation/create') || message.part.envelope.kind !== 'result') return
      const schema = at(message.asked!.params, 'requestedSchema')
      const content = at(message.result, 'content')
      if (!isMap(schema) || at(message.result, 'action') !== 'accept' || content === undefined) return
      const faults = checkSchema(schema, content, hiddenBelow(message, '/result/content'))
      if (faults.length > 0)
        say(message, {
          message: `the answer: ${describeFaults(faults)}`,
          at: `/result/content${faults[0]!.at}`,
          also: [message.asked!.row],
        })
    },
  }),
}
