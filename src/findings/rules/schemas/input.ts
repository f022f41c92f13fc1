import { pointerSteps } from '../../../wire/index.js'
import { checkSchema } from '../../../compare/index.js'
import type { Rule } from '../../finding.js'
import { at, isMap, type Json } from '../../json.js'
import { sources } from '../sources.js'
import { describeFaults } from './faults.js'

export const inputSchema: Rule = {
  info: {
    id: 'schemas/input',
    live: true,
    pack: 'schemas',
    level: 'warning',
    certainty: 'exact',
    title: 'A tool got arguments that do not match its inputSchema.',
    help: 'The model guessed. A server that checks arguments can report the error: the finding is then a note.',
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
      // Redacted arguments are not in the recording: their placeholders must not be validated.
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
  const path = pointerSteps(pointer)
  let found: Json | undefined = value
  for (const step of path) found = Array.isArray(found) ? found[Number(step)] : at(found, step)
  return typeof found === 'string' && found.includes('[REDACTED')
}
