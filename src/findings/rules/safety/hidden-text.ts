import type { Rule } from '../../finding.js'
import type { Level } from '../../levels.js'
import { isMap, stringsIn, at, type Json } from '../../json.js'
import type { Message } from '../../message.js'
import { sources } from '../sources.js'

/** A kind of text that is invisible to people but read by models. */
interface Hidden {
  readonly name: string
  readonly pattern: RegExp
  /** Levels in a definition, and in a result. */
  readonly levels: readonly [Level, Level]
  /** Decodes the hidden text, if it has any. */
  readonly decode?: (found: string) => string
}

/** Some flags, such as that of Scotland, are a black flag with tag characters, not hidden text. */
const flags = /\u{1f3f4}[\u{e0020}-\u{e007e}]{1,8}\u{e007f}/gu

const kinds: readonly Hidden[] = [
  {
    name: 'tag characters',
    pattern: /[\u{e0000}-\u{e007f}]+/u,
    levels: ['error', 'warning'],
    decode: (found) =>
      Array.from(found, (char) => String.fromCodePoint(Math.max(32, char.codePointAt(0)! - 0xe0000))).join(
        '',
      ),
  },
  // A single variation selector selects a form of the character before it; many can encode bytes.
  {
    name: 'variation selectors',
    pattern: /[\u{fe00}-\u{fe0f}\u{e0100}-\u{e01ef}]{3,}/u,
    levels: ['error', 'warning'],
  },
  {
    name: 'bidirectional controls',
    pattern: /[\u{202a}-\u{202e}\u{2066}-\u{2069}]/u,
    levels: ['error', 'note'],
  },
  { name: 'terminal controls', pattern: /[\u{1b}\u{9b}]/u, levels: ['error', 'note'] },
  {
    name: 'zero-width characters',
    pattern: /[\u{200b}\u{2060}-\u{2064}\u{180e}]|(?<=[ -~])(?:\u{200c}|\u{200d}|\u{feff})(?=[ -~])/u,
    levels: ['warning', 'note'],
  },
]

/**
 * Whether the exact text may contain any of these, literally or escaped. Without the flags `u` and `i`, plain Latin
 * text costs two comparisons per character; \udb40 is the first half of tags and of variation selectors beyond the BMP.
 */
const suspicious =
  /[\u001b\u009b\u180e\u200b-\u200d]|[\u202a-\u202e\u2060-\u2069]|[\ufe00-\ufe0f]|[\ufeff\udb40]|\\u(?:180[eE]|00(?:1[bB]|9[bB])|200[b-dB-D]|202[a-eA-E]|206\d|[fF][eE](?:0[\da-fA-F]|[fF][fF])|[dD][bB]40)/

function isSuspicious({ isAscii, text }: Message): boolean {
  return (!isAscii || text.includes(String.raw`\u`)) && suspicious.test(text)
}

export const hiddenText: Rule = {
  info: {
    id: 'safety/hidden-text',
    live: true,
    pack: 'safety',
    level: 'error',
    certainty: 'exact',
    title: 'A definition or a result holds text that is invisible to a person.',
    help: 'A model reads it. Read the text before you approve the definition.',
    source: sources.owasp,
    owasp: 'MCP03',
  },
  begin: (_, say) => ({
    message(message) {
      if (!message.fromServer || !isSuspicious(message)) return
      const where = partOf(message)
      if (where === undefined) return
      for (const [text, pointer] of stringsIn(where.value, where.pointer)) {
        const plain = text.replaceAll(flags, '')
        for (const { name, pattern, levels, decode } of kinds) {
          const found = pattern.exec(plain)?.[0]
          if (found === undefined) continue
          const said = decode?.(found).trim()
          const tool = where.isDefinition ? toolAt(message.value, pointer) : undefined
          say(message, {
            message: `${name} in ${where.isDefinition ? 'a definition' : 'a result'}${said ? `: “${said.slice(0, 200)}”` : ''}`,
            at: pointer,
            level: where.isDefinition ? levels[0] : levels[1],
            ...(tool !== undefined && { tool }),
          })
        }
      }
    },
  }),
}

export interface ModelText {
  readonly value: Json | undefined
  readonly pointer: string
  /** Whether it is a definition, which is part of each prompt, or a result. */
  readonly isDefinition: boolean
}

const lists = /^(tools|prompts|resources|resources\/templates)\/list$/

/** The part of a server's message that models read. */
export function partOf(message: Message): ModelText | undefined {
  if (message.isAnswer) {
    if (message.part.envelope.kind === 'error')
      return { value: at(message.value, 'error'), pointer: '/error', isDefinition: false }
    const isDefinition =
      lists.test(message.method) || message.answers('initialize') || message.answers('server/discover')
    return { value: message.result, pointer: '/result', isDefinition }
  }
  if (message.asks('elicitation/create') || message.asks('sampling/createMessage'))
    return { value: message.params, pointer: '/params', isDefinition: false }
  return undefined
}

/** The tool whose definition contains a place in a list. */
export function toolAt(value: Json | undefined, pointer: string): string | undefined {
  const index = /^\/result\/tools\/(\d+)/.exec(pointer)?.[1]
  const tools = at(value, 'result', 'tools')
  const tool = index === undefined || !Array.isArray(tools) ? undefined : tools[Number(index)]
  return isMap(tool) && typeof tool['name'] === 'string' ? tool['name'] : undefined
}
