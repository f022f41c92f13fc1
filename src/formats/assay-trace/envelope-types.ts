import { decodeString, elementsOf, JsonObject, kindAt, type JsonKind } from '../../wire/index.js'
import type { Profile } from './profile.js'

/** Member names of the three structures, in the order of their array form. */
export const structures = {
  TransportTranscript: ['transport', 'transport_context', 'headers', 'entries'],
  TransportTranscriptEntry: ['timestamp_ms', 'transport_context', 'headers', 'request', 'response', 'sse'],
  TransportSseEnvelope: ['event', 'id', 'data'],
} as const

export type Structure = keyof typeof structures

/** Names of the structures in the strict profile, which accepts neither arrays nor repeated members. */
const strictNames: Readonly<Record<Structure, string>> = {
  TransportTranscript: 'a transport transcript with unique members',
  TransportTranscriptEntry: 'a transport transcript entry with unique members',
  TransportSseEnvelope: 'an SSE envelope with unique members',
}

/** Error for a value of another type, in the importer's words. */
export function wrongType(text: string, structure: Structure, profile: Profile): string {
  const expected = profile === 'strict' ? strictNames[structure] : `struct ${structure}`
  return `invalid type: ${typeText(text)}, expected ${expected}`
}

/** The known members of a structure, as exact JSON text; or its fault, in the importer's words. */
export type Members = ReadonlyMap<string, string> | { readonly fault: string }

/** @param text checked JSON */
export function membersOfStructure(text: string, structure: Structure, profile: Profile): Members {
  const kind = kindAt(text, 0)
  const names: readonly string[] = structures[structure]
  const members = new Map<string, string>()
  if (kind === 'array' && profile === 'documented') {
    const elements = elementsOf(text, 0, names.length)
    for (const [i, { start, end }] of elements.entries()) members.set(names[i]!, text.slice(start, end))
    return members
  }
  if (kind !== 'object') return { fault: wrongType(text, structure, profile) }
  for (const [name, value] of new JsonObject(text, 0).others()) {
    if (!names.includes(name)) continue
    if (members.has(name)) return { fault: `duplicate field \`${name}\`` }
    members.set(name, value)
  }
  return members
}

/** The importer's name for a value in `invalid type: …`. */
export function typeText(text: string): string {
  const kind: JsonKind = kindAt(text, 0)
  switch (kind) {
    case 'string':
      return `string ${JSON.stringify(decodeString(text, 0, text.length).slice(0, 80))}`
    case 'number':
      return `${/^-?\d+$/.test(text) ? 'integer' : 'floating point'} \`${text.slice(0, 40)}\``
    case 'boolean':
      return `boolean \`${text}\``
    case 'null':
      return 'null'
    case 'array':
      return 'sequence'
    case 'object':
      return 'map'
  }
}

/** Fault of a member that must be a string, null or absent. */
export function optionalStringFault(text: string | undefined): string | undefined {
  if (text === undefined || text === 'null' || text.startsWith('"')) return undefined
  return `invalid type: ${typeText(text)}, expected a string`
}

/** Fault of a `timestamp_ms`. */
export function timestampFault(text: string | undefined): string | undefined {
  if (text === undefined || text === 'null') return undefined
  if (/^(?:0|[1-9]\d*)$/.test(text) && (text.length < 20 || BigInt(text) < 2n ** 64n)) return undefined
  const isNegative = /^-[1-9]\d{0,18}$/.test(text)
  return `invalid ${isNegative ? 'value' : 'type'}: ${typeText(text)}, expected u64`
}
