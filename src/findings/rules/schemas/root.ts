import type { Rule } from '../../finding.js'
import { at, isMap, textAt } from '../../json.js'
import { sources } from '../sources.js'
import { eachNewTool } from './each-new-tool.js'

export const schemaRoot: Rule = {
  info: {
    id: 'schemas/root',
    live: true,
    pack: 'schemas',
    level: 'error',
    certainty: 'exact',
    title: 'The inputSchema of a tool is missing or does not describe an object.',
    help: 'Clients reject the tool, and some reject the whole server. Its root needs "type": "object".',
    source: sources.tools,
  },
  begin: eachNewTool((tool, row, say) => {
    const schema = at(tool.value, 'inputSchema')
    const fault = !isMap(schema)
      ? 'has no inputSchema'
      : textAt(schema, 'type') === 'object'
        ? undefined
        : 'has an inputSchema whose root is not "type": "object"'
    if (fault !== undefined)
      say(row, { message: `${tool.name} ${fault}`, at: `${tool.at}/inputSchema`, tool: tool.name })
  }),
}
