import type { Rule } from '../../finding.js'
import { sources } from '../sources.js'

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
      say(undefined, { message: `${runner} ${name} has no version`, what: name })
    },
  }),
}
