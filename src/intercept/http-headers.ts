import { JsonObject, kindAt, membersOf } from '../wire/index.js'
import type { FrameText } from './frame.js'

/** Names and values in turns. */
type RawHeaders = readonly string[]

/**
 * Headers of a request with another body, where they repeat what it says (2026-07-28): `Mcp-Method`, `Mcp-Name`,
 * `MCP-Protocol-Version`, `Mcp-Param-*`, and its length. A header that did not agree with the body before is left; one
 * that only the new body needs is added.
 */
export function agreeing(
  headers: RawHeaders,
  before: FrameText,
  after: FrameText,
  sizeBytes: number,
): string[] {
  const [old, now] = [before, after].map(saidBy) as [Said, Said]
  const changed: string[] = []
  for (let n = 0; n + 1 < headers.length; n += 2) {
    const name = headers[n]!
    const value = headers[n + 1]!
    const next = valueFor(name.toLowerCase(), value, old, now, sizeBytes)
    if (next !== undefined) changed.push(name, next)
  }
  if (headerOf(headers, 'mcp-method') === undefined) return changed
  for (const [header, was, is] of [
    ['Mcp-Name', old.name, now.name],
    ['MCP-Protocol-Version', old.version, now.version],
  ] as const) {
    const isNew = was === undefined && headerOf(headers, header.toLowerCase()) === undefined
    if (isNew && is !== undefined) changed.push(header, encoded(is))
  }
  return changed
}

interface Said {
  readonly method: string | undefined
  readonly name: string | undefined
  readonly version: string | undefined
  /** Of a tool call: its plain arguments, as headers say them. */
  readonly args: ReadonlyMap<string, string>
}

/** Undefined to leave the header out. */
function valueFor(key: string, value: string, old: Said, now: Said, sizeBytes: number): string | undefined {
  if (key === 'content-length') return String(sizeBytes)
  if (key === 'mcp-method') return follow(value, old.method, now.method)
  if (key === 'mcp-name') return follow(value, old.name, now.name)
  if (key === 'mcp-protocol-version') return follow(value, old.version, now.version)
  if (!key.startsWith('mcp-param-')) return value
  const argument = argumentOf(key.slice('mcp-param-'.length), decoded(value), old)
  return argument === undefined ? value : follow(value, old.args.get(argument), now.args.get(argument))
}

function follow(value: string, old: string | undefined, now: string | undefined): string | undefined {
  if (old === undefined || decoded(value) !== old || old === now) return value
  return now === undefined ? undefined : encoded(now)
}

/** Methods whose subject `Mcp-Name` repeats. */
const namedMethods = /^(tools\/call|prompts\/get|resources\/read|tasks\/(get|update|cancel))$/

/** Which argument a header repeats is in the tool's schema; here its value tells, and its name where several have it. */
function argumentOf(header: string, value: string, { args }: Said): string | undefined {
  const same = [...args].filter(([, text]) => text === value).map(([name]) => name)
  const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
  return same.length === 1 ? same[0] : same.find((name) => plain(name) === plain(header))
}

function saidBy({ text, parts, batch }: FrameText): Said {
  const { envelope } = parts[0]!
  const args = new Map<string, string>()
  if (!batch && envelope.argumentsText !== undefined) collect(envelope.argumentsText, args)
  // Only what is repeated in headers: a completion's reference is a subject too, and is not.
  const named = !batch && namedMethods.test(envelope.method ?? '')
  return {
    method: batch ? undefined : envelope.method,
    name: named ? envelope.subject : undefined,
    version: versionIn(text, batch) ?? envelope.protocolVersion,
    args,
  }
}

function versionIn(text: string, batch: boolean): string | undefined {
  if (batch) return undefined
  const meta = new JsonObject(text, 0).object('params')?.object('_meta')
  return meta?.string('io.modelcontextprotocol/protocolVersion')
}

/** Strings, numbers and booleans, those of nested objects too. */
function collect(text: string, args: Map<string, string>, depth = 0): void {
  if (depth > 8 || kindAt(text, 0) !== 'object') return
  for (const { name, start, end } of membersOf(text, 0)) {
    const value = text.slice(start, end)
    const kind = kindAt(value, 0)
    if (kind === 'string') args.set(name, JSON.parse(value) as string)
    else if (kind === 'number' || kind === 'boolean') args.set(name, value)
    else if (kind === 'object') collect(value, args, depth + 1)
  }
}

const wrapped = /^=\?base64\?([A-Za-z0-9+/=]*)\?=$/

function decoded(value: string): string {
  const found = wrapped.exec(value)
  return found ? Buffer.from(found[1]!, 'base64').toString() : value
}

/** What a header cannot hold, or what looks as if it were encoded, is encoded. */
function encoded(value: string): string {
  const isPlain = /^[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?$/.test(value) || value === ''
  return isPlain && !wrapped.test(value) ? value : `=?base64?${Buffer.from(value).toString('base64')}?=`
}

export function headerOf(headers: RawHeaders, name: string): string | undefined {
  for (let n = 0; n + 1 < headers.length; n += 2) {
    if (headers[n]!.toLowerCase() === name) return headers[n + 1]
  }
  return undefined
}

/** Headers like those of another request, with what this one says; without `Mcp-Param-*`, which only its tool's schema tells. */
export function headersFor(like: RawHeaders, frame: FrameText, sizeBytes: number): string[] {
  const { method, subject } = frame.parts[0]!.envelope
  const modern = headerOf(like, 'mcp-method') !== undefined
  const headers: string[] = []
  for (let n = 0; n + 1 < like.length; n += 2) {
    const key = like[n]!.toLowerCase()
    if (/^(content-length|transfer-encoding|expect|connection|content-encoding)$/.test(key)) continue
    if (key === 'mcp-method' || key === 'mcp-name' || key.startsWith('mcp-param-')) continue
    headers.push(like[n]!, like[n + 1]!)
  }
  headers.push('Content-Length', String(sizeBytes))
  if (modern && method !== undefined) {
    headers.push('Mcp-Method', method)
    if (subject !== undefined && namedMethods.test(method)) {
      headers.push('Mcp-Name', encoded(subject))
    }
  }
  return headers
}

/** `Mcp-Param-*` of a request, for one that takes after it. */
export function paramHeaders(headers: RawHeaders, before: FrameText, after: FrameText): string[] {
  const params: string[] = []
  for (let n = 0; n + 1 < headers.length; n += 2) {
    if (/^mcp-param-/i.test(headers[n]!)) params.push(headers[n]!, headers[n + 1]!)
  }
  return agreeing(params, before, after, 0)
}
