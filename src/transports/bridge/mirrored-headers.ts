import { decodeString, JsonObject, kindAt } from '../../wire/index.js'
import type { BridgedMessage } from './message-lines.js'

/** Headers that 2026-07-28 derives from the body of a request. */
export interface MirroredHeaders {
  /** Remembers which arguments of which tools are mirrored, from an answer to tools/list. */
  learn(message: BridgedMessage): void
  of(message: BridgedMessage): [name: string, value: string][]
}

/** Where an argument stands, and the header that repeats it. */
interface MirroredArgument {
  readonly header: string
  readonly path: readonly string[]
}

/** Tools that are remembered. */
const mostTools = 10_000
const mostDeep = 16
const named = /^(tools\/call|resources\/read|prompts\/get|tasks\/(get|update|cancel))$/

export function createMirroredHeaders(): MirroredHeaders {
  const tools = new Map<string, readonly MirroredArgument[]>()
  return {
    learn({ text, envelope }) {
      if (envelope.kind !== 'result') return
      const listed = new JsonObject(text, 0).object('result')?.objects('tools') ?? []
      for (const tool of listed) {
        const name = tool?.string('name')
        if (name === undefined) continue
        tools.delete(name)
        tools.set(name, mirroredIn(tool?.object('inputSchema'), []))
        if (tools.size > mostTools) tools.delete(tools.keys().next().value!)
      }
    },
    of({ text, envelope }) {
      const { protocolVersion, method, subject } = envelope
      if (!envelope.modern || protocolVersion === undefined || method === undefined) return []
      const headers: [string, string][] = [
        ['MCP-Protocol-Version', protocolVersion],
        ['Mcp-Method', encoded(method)],
      ]
      if (subject !== undefined && named.test(method)) headers.push(['Mcp-Name', encoded(subject)])
      if (method !== 'tools/call') return headers
      const given = new JsonObject(text, 0).object('params')?.object('arguments')
      for (const { header, path } of tools.get(subject ?? '') ?? []) {
        const value = scalarAt(given, path)
        if (value !== undefined) headers.push([`Mcp-Param-${header}`, encoded(value)])
      }
      return headers
    },
  }
}

function mirroredIn(schema: JsonObject | undefined, path: readonly string[]): MirroredArgument[] {
  const properties = schema?.object('properties')
  if (!properties || path.length >= mostDeep) return []
  return properties.others().flatMap(([name]) => {
    const property = properties.object(name)
    const header = property?.string('x-mcp-header')
    const own = header === undefined ? [] : [{ header, path: [...path, name] }]
    return [...own, ...mirroredIn(property, [...path, name])]
  })
}

/** A string, a whole number or a boolean as a header says it. */
function scalarAt(from: JsonObject | undefined, path: readonly string[]): string | undefined {
  const last = path.at(-1)!
  let object = from
  for (const name of path.slice(0, -1)) object = object?.object(name)
  const place = object?.at(last)
  if (!place) return undefined
  const raw = object!.raw(last)!
  const kind = kindAt(place.text, place.start)
  if (kind === 'string') return decodeString(raw, 0, raw.length)
  return kind === 'number' || raw === 'true' || raw === 'false' ? raw : undefined
}

/** Plain ASCII as it is, everything else, and what looks like it, in base64. */
function encoded(value: string): string {
  const isPlain = /^[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?$/.test(value) && !/^=\?base64\?.*\?=$/.test(value)
  return isPlain ? value : `=?base64?${Buffer.from(value).toString('base64')}?=`
}

/** What such a header says; undefined when it is not written as it must be. */
export function decodedHeader(value: string): string | undefined {
  const coded = /^=\?base64\?(.*)\?=$/.exec(value)?.[1]
  if (coded !== undefined) {
    const bytes = Buffer.from(coded, 'base64')
    return bytes.toString('base64') === coded ? bytes.toString('utf8') : undefined
  }
  return /^[\x20-\x7e\t]*$/.test(value) ? value : undefined
}
