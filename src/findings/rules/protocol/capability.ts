import type { Rule } from '../../finding.js'
import { at } from '../../json.js'
import { sources } from '../sources.js'

/** The capability that a method requires of the receiver. */
const needs: readonly (readonly [method: RegExp, capability: string, of: 'server' | 'client'])[] = [
  [/^tools\//, 'tools', 'server'],
  [/^prompts\//, 'prompts', 'server'],
  [/^resources\//, 'resources', 'server'],
  [/^completion\//, 'completions', 'server'],
  [/^logging\//, 'logging', 'server'],
  [/^sampling\//, 'sampling', 'client'],
  [/^roots\//, 'roots', 'client'],
  [/^elicitation\//, 'elicitation', 'client'],
]

export const capabilities: Rule = {
  info: {
    id: 'protocol/capability',
    live: true,
    pack: 'protocol',
    level: 'error',
    certainty: 'exact',
    title: 'A peer used a capability that the other side did not declare.',
    help: 'Both sides may use only what initialize agreed on.',
    source: sources.lifecycle,
  },
  begin: ({ server }, say) => ({
    message(message) {
      const { kind, method } = message.part.envelope
      if (kind !== 'request' || method === undefined) return
      const talk = server.conversation(message)
      if (talk.isModern || !talk.initialized) return
      const other = message.fromServer ? 'client' : 'server'
      const capability = needs.find(([pattern, , of]) => of === other && pattern.test(method))?.[1]
      const offered = message.fromServer ? talk.clientCapabilities : talk.serverCapabilities
      if (capability === undefined || at(offered, capability) !== undefined) return
      // The completions capability was introduced in 2025-03-26.
      if (capability === 'completions' && (talk.version ?? '') < '2025-03-26') return
      // Clients probe for lists; a server that responds with an error loses nothing.
      const level = message.fromServer ? 'error' : 'warning'
      say(message, {
        message: `${method} needs the capability ${capability}, which the ${other} did not declare`,
        what: method,
        level,
      })
    },
  }),
}
