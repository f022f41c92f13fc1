import type { Rule } from '../../finding.js'
import { at, stringsIn } from '../../json.js'
import { sources } from '../sources.js'

const risks: readonly (readonly [name: string, pattern: RegExp])[] = [
  [
    'the address of a cloud’s metadata',
    /169\.254\.169\.254|metadata\.google\.internal|\[fd00:ec2::254\]|100\.100\.100\.200/i,
  ],
  ['a path that leaves its folder', /(?:^|[/\\])\.\.[/\\]\.\.(?:[/\\]|$)|%2e%2e(?:%2f|\/)/i],
  ['a file of secrets', /(?:^|\/)(?:etc\/(?:passwd|shadow)|\.ssh\/id_\w+|\.aws\/credentials|\.netrc)$/i],
  [
    'a shell command inside a value',
    /\$\([a-z][^)]{0,200}\)|;\s*(?:rm|curl|wget|nc|bash|sh)\s|\|\s*(?:sh|bash)\b|`[a-z]{2,20} [^`]{0,200}`/i,
  ],
]

/** Tools whose arguments are commands or programs say so in their name. */
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
    help: 'A model that reads hostile data passes it on. Servers check paths, addresses and commands.',
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
          say(message, { message: `an argument of ${tool} holds ${name}`, at: pointer })
          break
        }
      }
    },
  }),
}

const tokenInQuery = /[?&](?:access_token|token|api[_-]?key|key|auth|authorization|secret|password)=/i

export const tokenInUrl: Rule = {
  info: {
    id: 'safety/token-in-url',
    pack: 'safety',
    level: 'error',
    certainty: 'exact',
    title: 'A request has a token in its URL.',
    help: 'Addresses are logged everywhere. A token belongs into the Authorization header.',
    source: sources.authorization,
    owasp: 'MCP01',
  },
  begin: (_, say) => ({
    message(message) {
      const path = message.record.http?.path
      const name = path === undefined ? undefined : tokenInQuery.exec(path)?.[0].slice(1, -1)
      if (name !== undefined) say(message, { message: `the address has a parameter ${name}`, what: name })
    },
    record(record, row) {
      if (record.type !== 'http') return
      const name = tokenInQuery.exec(record.path)?.[0].slice(1, -1)
      if (name !== undefined && row >= 0)
        say(row, { message: `the address has a parameter ${name}`, what: name })
    },
  }),
}

const sessionInQuery = /[?&](?:mcp-?)?session(?:_?id)?=/i

export const sessionInUrl: Rule = {
  info: {
    id: 'safety/session-in-url',
    pack: 'safety',
    level: 'warning',
    certainty: 'exact',
    title: 'A session id stands in a URL.',
    help: 'Addresses are logged everywhere, and who has the id has the session. It belongs into the Mcp-Session-Id header.',
    source: sources.security,
    owasp: 'MCP07',
  },
  begin: ({ server }, say) => ({
    message(message) {
      const path = message.record.http?.path ?? ''
      if (server.transport === 'streamable-http' && sessionInQuery.test(path))
        say(message, { message: 'the address has the id of a session' })
    },
  }),
}

const runners = /^(?:npx|bunx|pnpx|uvx|pipx)$/

export const unpinnedLaunch: Rule = {
  info: {
    id: 'safety/unpinned-launch',
    pack: 'safety',
    level: 'warning',
    certainty: 'exact',
    title: 'The server was started from a registry without a version.',
    help: 'The next start may run other code. Name the version: npx -y package@1.2.3.',
    source: sources.owasp,
    owasp: 'MCP04',
  },
  begin: ({ fold }, say) => ({
    end() {
      const command = fold.sessions.at(-1)?.command ?? []
      const runner =
        command[0]
          ?.split(/[/\\]/)
          .at(-1)
          ?.replace(/\.(?:cmd|exe)$/i, '') ?? ''
      if (!runners.test(runner)) return
      const name = command.slice(1).find((word) => !word.startsWith('-') && word !== 'run')
      if (name === undefined || /^[./]|^[a-z]:|:\/\//i.test(name)) return
      if (/.@(?!latest$)[\w.^~-]+$|==[\w.]+$/.test(name)) return
      say(undefined, { message: `${runner} ${name} names no version`, what: name })
    },
  }),
}

const exfiltration = /!\[[^\]]{0,200}\]\(https?:\/\/[^)\s]{1,300}[?&][^)\s=]{1,60}=[^)\s]{40,}/

export const exfiltratingLink: Rule = {
  info: {
    id: 'safety/image-link',
    live: true,
    pack: 'safety',
    level: 'note',
    certainty: 'pattern',
    title: 'A result holds an image whose address carries data.',
    help: 'A client that renders it sends the data to that address.',
    source: sources.owasp,
    owasp: 'MCP10',
  },
  begin: (_, say) => ({
    message(message) {
      if (!message.answers('tools/call') || !message.text.includes('](http')) return
      for (const [text, pointer] of stringsIn(message.result, '/result'))
        if (exfiltration.test(text))
          say(message, { message: 'an image in Markdown with a long query', at: pointer })
    },
  }),
}
