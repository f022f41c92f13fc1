import type { Rule } from '../../finding.js'
import { stringsIn } from '../../json.js'
import { sources } from '../sources.js'
import { partOf, toolAt } from './hidden-text.js'

/** Sentences that command an agent, or tell it to hide something. Bounded gaps keep each pattern linear. */
const directives: readonly (readonly [name: string, pattern: RegExp])[] = [
  [
    'a tag that looks like a system message',
    /<\/?(?:important|system|secret|hidden|admin|critical|instructions?)>/i,
  ],
  [
    'it tells the agent to ignore its instructions',
    /\b(?:ignore|disregard|forget|override)\s(?:all\s|any\s|the\s|your\s){0,2}(?:previous|prior|earlier|above|preceding|other|system)\s(?:instructions?|prompts?|rules|messages|guidelines)/i,
  ],
  [
    'it tells the agent to hide something from the user',
    /\b(?:do not|don'?t|never|must not|should not)\s(?:tell|inform|mention|show|reveal|notify|alert|disclose)\b.{0,40}\b(?:users?|human|person|anyone)\b/i,
  ],
  [
    'it tells the agent to act without the user',
    /\bwithout\s(?:telling|informing|notifying|asking|alerting|mentioning)\b.{0,20}\b(?:user|human|person)\b/i,
  ],
  [
    'it tells the agent to call this tool first',
    /\bbefore\s(?:using|calling|invoking|running)?\s?any\s(?:other\s)?(?:tools?|functions?)\b/i,
  ],
  [
    'it tells the agent to read a file with secrets',
    /(?:~|\/home\/[\w.-]{1,64}|\/Users\/[\w.-]{1,64}|\/root)\/\.(?:ssh|aws|gnupg|kube|cursor|claude|config\/gcloud|netrc|npmrc)\b/i,
  ],
  [
    'it gives the agent a new role',
    /\b(?:you are now|your new (?:role|task|instructions?)|act as (?:an?\s)?(?:admin|root|system))\b/i,
  ],
  [
    'it asks for the conversation or the system prompt',
    /\b(?:(?:full|entire|whole|complete)\s(?:conversation|chat)\s(?:history|log)|system\sprompt\b)/i,
  ],
]

const boundary = String.raw`\b`

/** Matches any directive with this start, also in text escaped as JSON. */
const anyWith = (start: string): RegExp =>
  new RegExp(
    directives
      .map(([, pattern]) => pattern.source.replaceAll(String.raw`\/`, '/'))
      .filter((source) => source.startsWith(start))
      .map((source) => source.slice(start === boundary ? start.length : 0))
      .join('|'),
    'i',
  )

/** Runs on every text, so patterns start only at a word boundary or at their rarest characters. */
const words = new RegExp(`${boundary}(?:${anyWith(boundary).source})`, 'i')
const tags = anyWith('<')
const files = anyWith('(?:~')

function isSuspicious(text: string): boolean {
  return (
    words.test(text) || (text.includes('<') && tags.test(text)) || (text.includes('/.') && files.test(text))
  )
}

export const agentDirective: Rule = {
  info: {
    id: 'safety/agent-directive',
    live: true,
    pack: 'safety',
    level: 'warning',
    certainty: 'pattern',
    title: 'A definition or a result commands the agent.',
    help: 'Read it before an agent does. In a result it may be an attack by the author of the data.',
    source: sources.owasp,
    owasp: 'MCP03',
  },
  begin: (_, say) => ({
    message(message) {
      if (!message.fromServer || !isSuspicious(message.text)) return
      const where = partOf(message)
      if (where === undefined) return
      for (const [text, pointer] of stringsIn(where.value, where.pointer)) {
        for (const [name, pattern] of directives) {
          const found = pattern.exec(text)
          if (!found) continue
          const around = text
            .slice(Math.max(0, found.index - 20), found.index + found[0].length + 60)
            .replaceAll(/\s+/g, ' ')
          const tool = where.isDefinition ? toolAt(message.value, pointer) : undefined
          say(message, {
            message: `${name}: “${around.trim()}”`,
            at: pointer,
            level: where.isDefinition ? 'warning' : 'note',
            ...(tool !== undefined && { tool }),
          })
          break
        }
      }
    },
  }),
}
