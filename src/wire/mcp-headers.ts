import { JsonObject } from './json-object.js'
import { decodeString } from './json-strings.js'
import { kindAt } from './json-text.js'

/** A tool argument that is repeated in a header (`x-mcp-header`, 2026-07-28): `Mcp-Param-` and `header`. */
export interface MirroredArgument {
  readonly header: string
  /** Property names that lead to the argument. */
  readonly path: readonly string[]
}

/** The arguments of each tool that headers repeat, known from tools/list. */
export interface MirroredTools {
  /** @param result a checked JSON text: a tools/list response. The most recent definition of a tool counts. */
  learn(result: string): void
  /** Undefined for a tool that was never listed. */
  of(tool: string): readonly MirroredArgument[] | undefined
}

export type McpHeader = [name: string, value: string]

/** Methods whose subject is repeated in `Mcp-Name`. */
export const namedMethods = /^(tools\/call|resources\/read|prompts\/get|tasks\/(get|update|cancel))$/

/** Limits for tools, and for the characters of their names, headers and paths. The oldest are forgotten first. */
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
      // Short members take many times their bytes in memory.
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

/** @param tool its definition from a tools/list result */
export function mirroredArguments(tool: JsonObject): readonly MirroredArgument[] {
  return mirroredIn(tool.object('inputSchema'), [])
}

/** Searches only along `properties`. An annotation that is not a valid header name is ignored. */
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

/** The headers of every 2026-07-28 request: version, method and, for some methods, the subject. */
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

/** The `Mcp-Param-*` headers of a tool call. @param given its arguments */
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

/** The header text of an argument that is a string, number or boolean. Undefined for others, and for a missing one. */
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
  // Integers are written in plain decimal, whatever their form in the body.
  const number = Number(raw)
  return Number.isSafeInteger(number) ? number.toFixed(0) : raw
}

/** Base64 for text that is not plain ASCII, that looks encoded, or that is empty and so might be dropped. */
export function encodedHeader(value: string): string {
  const isPlain = /^[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?$/.test(value)
  if (isPlain && !value.startsWith('=?base64?')) return value
  let bytes = ''
  for (const byte of new TextEncoder().encode(value)) bytes += String.fromCharCode(byte)
  return `=?base64?${btoa(bytes)}?=`
}

/** The decoded text of a header; undefined when its encoding is invalid. */
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

/** Whether two decoded values are equal. Numbers are compared by value. */
export function isSameHeader(one: string, other: string): boolean {
  const number = /^-?\d+(\.\d+)?$/
  return one === other || (number.test(one) && number.test(other) && Number(one) === Number(other))
}
