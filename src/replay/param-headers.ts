import type { Offers } from '../compare/index.js'
import {
  argumentHeaders,
  argumentsIn,
  JsonObject,
  mirroredArguments,
  type McpHeader,
  type MirroredArgument,
} from '../wire/index.js'

/** Arguments that a tool also wants in a header of their own (2026-07-28, `x-mcp-header`). */
export interface ParamHeaders {
  /** For the exact text of a `tools/call`. */
  of(request: string, tool: string): readonly McpHeader[]
}

/** @param offers lists of tools; the first that has the tool counts; they may still grow */
export function createParamHeaders(offers: readonly Offers[]): ParamHeaders {
  const known = new Map<string, readonly MirroredArgument[]>()
  function wanted(tool: string): readonly MirroredArgument[] {
    const text = offers.map((each) => each.list('tool')?.get(tool)).find((each) => each !== undefined)
    if (text === undefined) return []
    let found = known.get(text)
    if (!found) known.set(text, (found = mirroredArguments(new JsonObject(text, 0))))
    return found
  }
  return { of: (request, tool) => argumentHeaders(wanted(tool), argumentsIn(request)) }
}
