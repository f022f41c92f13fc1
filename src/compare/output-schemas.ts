import { findJsonValue, isFault, memberOf, membersOf } from '../wire/index.js'
import type { Offers } from './offers.js'

/** What a tool says of its results: texts of its `outputSchema`. */
export interface OutputSchemas {
  /** Undefined when it said nothing of them. Where the old side listed no such tool, as `after`. */
  readonly before: string | undefined
  /** Where the new side listed no such tool, as the old one said. */
  readonly after: string
}

/** The `outputSchema` of a tool that was listed, on either side; undefined when its results may be anything now. */
export function outputSchemasOf(before: Offers, after: Offers, tool: string): OutputSchemas | undefined {
  const [old, now] = [before.list('tool')?.get(tool), after.list('tool')?.get(tool)]
  const schema = schemaIn(now ?? old)
  return schema === undefined ? undefined : { before: schemaIn(old ?? now), after: schema }
}

function schemaIn(tool: string | undefined): string | undefined {
  const found = tool === undefined ? undefined : findJsonValue(tool)
  if (tool === undefined || found === undefined || isFault(found)) return undefined
  const schema = memberOf(membersOf(tool, found.start), 'outputSchema')
  return schema && tool.slice(schema.start, schema.end)
}
