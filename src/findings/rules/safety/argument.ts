import type { Rule } from '../../finding.js'
import { at, stringsIn } from '../../json.js'
import { sources } from '../sources.js'

const risks: readonly (readonly [name: string, pattern: RegExp])[] = [
  [
    'the address of a cloud metadata service',
    /169\.254\.169\.254|metadata\.google\.internal|\[fd00:ec2::254\]|100\.100\.100\.200/i,
  ],
  ['a path that leaves its folder', /(?:^|[/\\])\.\.[/\\]\.\.(?:[/\\]|$)|%2e%2e(?:%2f|\/)/i],
  ['a file with secrets', /(?:^|\/)(?:etc\/(?:passwd|shadow)|\.ssh\/id_\w+|\.aws\/credentials|\.netrc)$/i],
  [
    'a shell command inside a value',
    /\$\([a-z][^)]{0,200}\)|;\s*(?:rm|curl|wget|nc|bash|sh)\s|\|\s*(?:sh|bash)\b|`[a-z]{2,20} [^`]{0,200}`/i,
  ],
]

/** Tools that take commands or programs as arguments have such a word in their name. */
const takesCommands =
  /(?:^|[_.-])(?:shell|bash|exec|execute|command|cmd|run|terminal|script|eval|code|sql|query)(?:$|[_.-])/i

export const riskyArgument: Rule = {
  info: {
    id: 'safety/argument',
    live: true,
    pack: 'safety',
    level: 'note',
    certainty: 'pattern',
    title: 'An argument looks like an attack on the server.',
    help: 'A model that reads hostile data passes it on. Servers must check paths, addresses and commands.',
    source: sources.owasp,
    owasp: 'MCP05',
  },
  begin: (_, say) => ({
    message(message) {
      if (!message.asks('tools/call')) return
      const text = message.part.envelope.argumentsText ?? ''
      if (!risks.some(([, pattern]) => pattern.test(text)) && !text.includes('..')) return
      const tool = message.tool ?? ''
      for (const [value, pointer] of stringsIn(at(message.params, 'arguments'), '/params/arguments')) {
        for (const [name, pattern] of risks) {
          if (!pattern.test(value) || (name.startsWith('a shell') && takesCommands.test(tool))) continue
          say(message, { message: `an argument of ${tool} contains ${name}`, at: pointer })
          break
        }
      }
    },
  }),
}
