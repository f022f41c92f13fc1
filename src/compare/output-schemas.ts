import { findJsonValue, isFault, memberOf, membersOf } from '../wire/index.js'
import type { Offers } from './offers.js'

/** A tool's `outputSchema` texts. */
export interface OutputSchemas {
  /** Undefined if the tool had none. If the old side did not list the tool, as `after`. */
  readonly before: string | undefined
  /** If the new side did not list the tool, the old one. */
  readonly after: string
}

/** The `outputSchema` of a tool listed on either side; undefined if its current definition has none. */
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
