import {
  argumentHeaders,
  decodedHeader,
  encodedHeader,
  isSameHeader,
  JsonObject,
  mirroredValue,
  namedMethods,
  type MirroredArgument,
  type FrameText,
} from '../wire/index.js'
import { redactionMark } from './redaction-mark.js'
import type { KnownTools } from './tool-headers.js'

/** Alternating names and values. */
type RawHeaders = readonly string[]

const paramPrefix = 'mcp-param-'

/**
 * Headers of a request with a changed body, adjusted where they mirror it (2026-07-28): `Mcp-Method`, `Mcp-Name`,
 * `MCP-Protocol-Version`, `Mcp-Param-*`, and the length. A header that did not match the original body is kept; a
 * header that only the new body needs is added.
 */
export function agreeing(
  headers: RawHeaders,
  before: FrameText,
  after: FrameText,
  sizeBytes: number,
  known: KnownTools = {},
): string[] {
  const [old, now] = [before, after].map(saidBy) as [Said, Said]
  const changed: string[] = []
  for (let n = 0; n + 1 < headers.length; n += 2) {
    const name = headers[n]!
    const value = headers[n + 1]!
    const key = name.toLowerCase()
    const next = key.startsWith(paramPrefix)
      ? paramFor(key.slice(paramPrefix.length), value, old, now, known)
      : valueFor(key, value, old, now, sizeBytes)
    if (next !== undefined) changed.push(name, next)
  }
  if (headerOf(headers, 'mcp-method') === undefined) return changed
  for (const [header, was, is] of [
    ['Mcp-Name', old.name, now.name],
    ['MCP-Protocol-Version', old.version, now.version],
  ] as const) {
    const isNew = was === undefined && headerOf(headers, header.toLowerCase()) === undefined
    if (isNew && is !== undefined) changed.push(header, encodedHeader(is))
  }
  changed.push(...paramsOnlyOf(now, known, (header) => isMissing(header, headers, old, known)))
  return changed
}

interface Said {
  readonly method: string | undefined
  readonly name: string | undefined
  readonly version: string | undefined
  readonly given: JsonObject | undefined
}

/** Undefined to omit the header. */
function valueFor(key: string, value: string, old: Said, now: Said, sizeBytes: number): string | undefined {
  if (key === 'content-length') return String(sizeBytes)
  if (key === 'mcp-method') return follow(value, old.method, now.method)
  if (key === 'mcp-name') return follow(value, old.name, now.name)
  if (key === 'mcp-protocol-version') return follow(value, old.version, now.version)
  return value
}

/** New value of an `Mcp-Param-*` header by the list of tools. Without a list the header is kept, with a notice. */
function paramFor(
  header: string,
  value: string,
  old: Said,
  now: Said,
  { before, after }: KnownTools,
): string | undefined {
  const wants = (tool: KnownTools['after']): MirroredArgument | undefined =>
    tool?.find((one) => one.header.toLowerCase() === header)
  const next = wants(after)
  const said = next && mirroredValue(now.given, next.path)
  if (value === redactionMark && after) return said === undefined ? undefined : encodedHeader(said)
  const argument = wants(before)
  const was = argument && mirroredValue(old.given, argument.path)
  return argument && after ? follow(value, was, said) : value
}

/** The `Mcp-Param-*` headers that a body requires, filtered by `isWanted`. */
function paramsOnlyOf(now: Said, { after }: KnownTools, isWanted: (header: string) => boolean): string[] {
  const wanted = (after ?? []).filter(({ header }) => isWanted(header))
  return argumentHeaders(wanted, now.given).flat()
}

/** Whether a header is absent, and not because its sender omitted it. */
function isMissing(header: string, headers: RawHeaders, old: Said, { before }: KnownTools): boolean {
  const key = header.toLowerCase()
  if (headerOf(headers, paramPrefix + key) !== undefined) return false
  const argument = before?.find((one) => one.header.toLowerCase() === key)
  return !argument || mirroredValue(old.given, argument.path) === undefined
}

function follow(value: string, old: string | undefined, now: string | undefined): string | undefined {
  if (old === undefined || !isSameHeader(decodedHeader(value) ?? value, old) || old === now) return value
  return now === undefined ? undefined : encodedHeader(now)
}

function saidBy({ text, parts, batch }: FrameText): Said {
  const { envelope } = parts[0]!
  // Only names that headers mirror: a completion's reference is a subject too, but is not mirrored.
  const named = !batch && namedMethods.test(envelope.method ?? '')
  const params = batch ? undefined : new JsonObject(text, 0).object('params')
  return {
    method: batch ? undefined : envelope.method,
    name: named ? envelope.subject : undefined,
    version: batch ? undefined : (versionIn(params) ?? envelope.protocolVersion),
    given: params?.object('arguments'),
  }
}

function versionIn(params: JsonObject | undefined): string | undefined {
  return params?.object('_meta')?.string('io.modelcontextprotocol/protocolVersion')
}

function headerOf(headers: RawHeaders, name: string): string | undefined {
  for (let n = 0; n + 1 < headers.length; n += 2) {
    if (headers[n]!.toLowerCase() === name) return headers[n + 1]
  }
  return undefined
}

const perBody = /^(content-length|transfer-encoding|expect|connection|content-encoding|mcp-method|mcp-name)$/

/**
 * Headers modelled on another request, adjusted to this one.
 *
 * @param original the request that this one is derived from, with its headers: source of `Mcp-Param-*`
 */
export function headersFor(
  like: RawHeaders,
  frame: FrameText,
  sizeBytes: number,
  known: KnownTools,
  original?: { readonly frame: FrameText; readonly headers: RawHeaders },
): string[] {
  const now = saidBy(frame)
  const modern = headerOf(like, 'mcp-method') !== undefined
  const headers: string[] = []
  for (let n = 0; n + 1 < like.length; n += 2) {
    const key = like[n]!.toLowerCase()
    if (perBody.test(key) || key.startsWith(paramPrefix)) continue
    const isOther = modern && key === 'mcp-protocol-version' && now.version !== undefined
    headers.push(like[n]!, isOther ? encodedHeader(now.version) : like[n + 1]!)
  }
  headers.push('Content-Length', String(sizeBytes))
  if (!modern || now.method === undefined) return headers
  headers.push('Mcp-Method', encodedHeader(now.method))
  if (now.name !== undefined) headers.push('Mcp-Name', encodedHeader(now.name))
  if (!original) headers.push(...paramsOnlyOf(now, known, () => true))
  else headers.push(...paramsOf(agreeing(original.headers, original.frame, frame, sizeBytes, known)))
  return headers
}

function paramsOf(headers: RawHeaders): string[] {
  const params: string[] = []
  for (let n = 0; n + 1 < headers.length; n += 2) {
    if (headers[n]!.toLowerCase().startsWith(paramPrefix)) params.push(headers[n]!, headers[n + 1]!)
  }
  return params
}
