import type { Rule } from '../../finding.js'
import { sources } from '../sources.js'
import { eachNewTool } from './each-new-tool.js'

export const nameLength: Rule = {
  info: {
    id: 'schemas/name',
    live: true,
    pack: 'schemas',
    level: 'warning',
    certainty: 'exact',
    title: 'The name of a tool is longer than 64 characters, or has characters that model providers reject.',
    help: 'Use at most 64 letters, digits, underscores, hyphens and dots.',
    source: sources.tools,
  },
  begin: eachNewTool((tool, row, say) => {
    const { name } = tool
    if (name.length > 64)
      say(row, {
        message: `the name ${name.slice(0, 80)} has ${name.length} characters`,
        at: `${tool.at}/name`,
        tool: name,
      })
    else if (!/^[\w./-]+$/.test(name))
      say(row, {
        message: `the name ${name} has characters that are not allowed`,
        at: `${tool.at}/name`,
        tool: name,
        level: 'note',
      })
  }),
}
