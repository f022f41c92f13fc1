import type { Rule } from '../../finding.js'
import { stringsIn } from '../../json.js'
import { sources } from '../sources.js'

const exfiltration = /!\[[^\]]{0,200}\]\(https?:\/\/[^)\s]{1,300}[?&][^)\s=]{1,60}=[^)\s]{40,}/

export const exfiltratingLink: Rule = {
  info: {
    id: 'safety/image-link',
    live: true,
    pack: 'safety',
    level: 'note',
    certainty: 'pattern',
    title: 'A result holds an image whose URL carries data.',
    help: 'A client that renders it sends the data to that URL.',
    source: sources.owasp,
    owasp: 'MCP10',
  },
  begin: (_, say) => ({
    message(message) {
      if (!message.answers('tools/call') || !message.text.includes('](http')) return
      for (const [text, pointer] of stringsIn(message.result, '/result'))
        if (exfiltration.test(text))
          say(message, { message: 'a Markdown image with a long query', at: pointer })
    },
  }),
}
