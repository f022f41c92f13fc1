import type { Offers } from '../compare/index.js'
import { headerValue } from '../transports/index.js'
import { decodeString, kindAt, pointerSteps, valueAt, type Span } from '../wire/index.js'

/** Arguments that a tool wants in a header of its own, too (2026-07-28, `x-mcp-header`). */
export interface ParamHeaders {
  /** For the exact text of a `tools/call`. */
  of(request: string, tool: string): readonly (readonly [name: string, value: string])[]
}

interface WantedHeader {
  readonly header: string
  /** JSON Pointer into the request. */
  readonly at: string
}

const headerToken = /^[!#$%&'*+.^_`|~\w-]+$/
const deepest = 32

/** @param offers lists of tools, of which the first that knows a tool counts; they may still grow */
export function createParamHeaders(offers: readonly Offers[]): ParamHeaders {
  const known = new Map<string, readonly WantedHeader[]>()
  function wanted(tool: string): readonly WantedHeader[] {
    const text = offers.map((each) => each.list('tool')?.get(tool)).find((each) => each !== undefined)
    if (text === undefined) return []
    let found = known.get(text)
    if (!found) known.set(text, (found = headersIn(text)))
    return found
  }
  return {
    of(request, tool) {
      return wanted(tool).flatMap(({ header, at }) => {
        const value = valueAt(request, 0, pointerSteps(at))
        const text = value && textOf(request, value)
        return text === undefined ? [] : [[`Mcp-Param-${header}`, headerValue(text)] as const]
      })
    },
  }
}

/** Only properties that are reached by `properties` alone count. */
function headersIn(tool: string): WantedHeader[] {
  const found: WantedHeader[] = []
  function visit(schema: unknown, at: string, depth: number): void {
    if (typeof schema !== 'object' || schema === null || depth > deepest) return
    const { properties, 'x-mcp-header': header } = schema as {
      properties?: unknown
      'x-mcp-header'?: unknown
    }
    if (typeof header === 'string' && headerToken.test(header)) found.push({ header, at })
    if (typeof properties !== 'object' || properties === null) return
    for (const [name, inner] of Object.entries(properties))
      visit(inner, `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, depth + 1)
  }
  visit((JSON.parse(tool) as { inputSchema?: unknown }).inputSchema, '/params/arguments', 0)
  return found
}

/** Null, and what may not stand in a header, is left out. */
function textOf(request: string, { start, end }: Span): string | undefined {
  const kind = kindAt(request, start)
  if (kind === 'string') return decodeString(request, start, end)
  return kind === 'number' || kind === 'boolean' ? request.slice(start, end) : undefined
}
