import { JsonObject } from './json-object.js'
import { decodeString } from './json-strings.js'
import { kindAt } from './json-text.js'

/** An argument of a tool that a header repeats (`x-mcp-header`, 2026-07-28): `Mcp-Param-` and `header`. */
export interface MirroredArgument {
  readonly header: string
  /** Names of the properties that lead to it. */
  readonly path: readonly string[]
}

/** Which arguments of which tools headers repeat, as far as answers to tools/list said. */
export interface MirroredTools {
  /** @param result a checked JSON text: an answer to tools/list. The newest word on a tool counts. */
  learn(result: string): void
  /** Undefined for a tool that was never listed. */
  of(tool: string): readonly MirroredArgument[] | undefined
}

export type McpHeader = [name: string, value: string]

/** Methods whose subject `Mcp-Name` repeats. */
export const namedMethods = /^(tools\/call|resources\/read|prompts\/get|tasks\/(get|update|cancel))$/

/** Tools that are remembered, and characters of their names, headers and paths; the oldest are forgotten first. */
const mostTools = 10_000
const mostText = 4 * 1024 * 1024
const mostDeep = 32
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

export function createMirroredTools(): MirroredTools {
  const tools = new Map<string, readonly MirroredArgument[]>()
  let size = 0

  function forget(name: string): void {
    const known = tools.get(name)
    if (!known) return
    tools.delete(name)
    size -= sizeOf(name, known)
  }

  return {
    of: (tool) => tools.get(tool),
    learn(result) {
      // Short members cost many times their bytes.
      if (result.length > mostText) return
      const listed = new JsonObject(result, 0).object('result')?.objects('tools') ?? []
      for (const tool of listed) {
        const name = tool?.string('name')
        if (name === undefined) continue
        forget(name)
        const found = mirroredArguments(tool!)
        tools.set(name, found)
        size += sizeOf(name, found)
        while (tools.size > mostTools || size > mostText) forget(tools.keys().next().value!)
      }
    },
  }
}

function sizeOf(name: string, found: readonly MirroredArgument[]): number {
  return found.reduce((sum, { header, path }) => sum + header.length + path.join().length, name.length)
}

/** @param tool its definition, as in a list of tools */
export function mirroredArguments(tool: JsonObject): readonly MirroredArgument[] {
  return mirroredIn(tool.object('inputSchema'), [])
}

/** Only what `properties` alone lead to; an annotation that is no header name counts as none. */
function mirroredIn(schema: JsonObject | undefined, path: readonly string[]): MirroredArgument[] {
  const properties = schema?.object('properties')
  if (!properties || path.length >= mostDeep) return []
  return properties.others().flatMap(([name]) => {
    const property = properties.object(name)
    const header = property?.string('x-mcp-header')
    const own = header === undefined || !token.test(header) ? [] : [{ header, path: [...path, name] }]
    return [...own, ...mirroredIn(property, [...path, name])]
  })
}

/** The headers that every request of 2026-07-28 has: its version, its method, and the subject of some methods. */
export function standardHeaders(said: {
  readonly protocolVersion?: string | undefined
  readonly method?: string | undefined
  readonly subject?: string | undefined
}): McpHeader[] {
  const { protocolVersion, method, subject } = said
  if (protocolVersion === undefined || method === undefined) return []
  const headers: McpHeader[] = [
    ['MCP-Protocol-Version', encodedHeader(protocolVersion)],
    ['Mcp-Method', encodedHeader(method)],
  ]
  if (subject !== undefined && namedMethods.test(method)) headers.push(['Mcp-Name', encodedHeader(subject)])
  return headers
}

/** The `Mcp-Param-*` of a tool call. @param given its arguments */
export function argumentHeaders(
  wanted: readonly MirroredArgument[],
  given: JsonObject | undefined,
): McpHeader[] {
  return wanted.flatMap(({ header, path }): McpHeader[] => {
    const value = mirroredValue(given, path)
    return value === undefined ? [] : [[`Mcp-Param-${header}`, encodedHeader(value)]]
  })
}

/** The arguments of a tool call. @param request its exact text */
export function argumentsIn(request: string): JsonObject | undefined {
  return new JsonObject(request, 0).object('params')?.object('arguments')
}

/** What a header says of an argument: a string, a number or a boolean. Undefined for others, and where there is none. */
export function mirroredValue(given: JsonObject | undefined, path: readonly string[]): string | undefined {
  const last = path.at(-1)!
  let object = given
  for (const name of path.slice(0, -1)) object = object?.object(name)
  const raw = object?.raw(last)
  return raw === undefined ? undefined : mirroredText(raw)
}

function mirroredText(raw: string): string | undefined {
  const kind = kindAt(raw, 0)
  if (kind === 'string') return decodeString(raw, 0, raw.length)
  if (kind !== 'number') return raw === 'true' || raw === 'false' ? raw : undefined
  // Whole numbers are written in plain decimal, however the body writes them.
  const number = Number(raw)
  return Number.isSafeInteger(number) ? number.toFixed(0) : raw
}

/** Plain ASCII as it is; base64 for all else, for a text that looks encoded, and for an empty one, which gets lost on the way. */
export function encodedHeader(value: string): string {
  const isPlain = /^[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?$/.test(value)
  if (isPlain && !value.startsWith('=?base64?')) return value
  let bytes = ''
  for (const byte of new TextEncoder().encode(value)) bytes += String.fromCharCode(byte)
  return `=?base64?${btoa(bytes)}?=`
}

/** The text that `encodedHeader` wrote; undefined when it is not written as it must be. */
export function decodedHeader(value: string): string | undefined {
  const coded = /^=\?base64\?(.*)\?=$/.exec(value)?.[1]
  if (coded === undefined) return /^[\x20-\x7e\t]*$/.test(value) ? value : undefined
  try {
    const bytes = atob(coded)
    if (btoa(bytes) !== coded) return undefined
    return new TextDecoder().decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)))
  } catch {
    return undefined
  }
}

/** Whether two decoded values are the same; numbers are, however they are written. */
export function isSameHeader(one: string, other: string): boolean {
  const number = /^-?\d+(\.\d+)?$/
  return one === other || (number.test(one) && number.test(other) && Number(one) === Number(other))
}
