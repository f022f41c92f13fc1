import type { z } from 'zod'
import { clientHello, command, type ClientHello, type Command } from './commands.js'
import { serverLine, type ServerLine } from './events.js'
import { longestLine } from './values.js'

/** A line that could not be decoded. `id` is the id of the command, if known. */
export interface LineFault {
  readonly fault: string
  readonly id: number | null
  /** Protocol version of a hello that is otherwise invalid. */
  readonly protocol?: number
  /** The line is a hello. */
  readonly isHello?: boolean
}

const recordHead = '{"type":"record","line":'
const recordTail = '}'

/**
 * Prefix and suffix of a tape line. The line is embedded and extracted unchanged, without parsing and printing. The
 * whole is valid JSON.
 */
export const recordFrame = { head: recordHead, tail: `${recordTail}\n` } as const

/** Encodes one line, with its line feed. */
export function encodeLine(line: ClientHello | Command | ServerLine): string {
  if (line.type === 'record') return recordFrame.head + line.line + recordFrame.tail
  return `${JSON.stringify(line)}\n`
}

/** Decodes a line from an attached program, given without its line feed. */
export function decodeClientLine(text: string): ClientHello | Command | LineFault {
  const value = parse(text)
  if ('fault' in value) return { ...value, id: null }
  const isHello = typeOf(value.json) === 'hello'
  const read = (isHello ? clientHello : command).safeParse(value.json)
  if (read.success) return read.data
  const fault = { fault: wordsOf(read.error), id: idOf(value.json) }
  if (!isHello) return fault
  const protocol = memberOf(value.json, 'protocol')
  return { ...fault, isHello, ...(typeof protocol === 'number' && { protocol }) }
}

/** Decodes a line from a capture, given without its line feed. `undefined` for unknown types of lines. */
export function decodeServerLine(text: string): ServerLine | LineFault | undefined {
  if (text.startsWith(recordHead) && text.endsWith(recordTail)) {
    return { type: 'record', line: text.slice(recordHead.length, -recordTail.length) }
  }
  const value = parse(text)
  if ('fault' in value) return { ...value, id: null }
  const type = typeOf(value.json)
  if (type === undefined) return { fault: 'a line must be an object with a "type"', id: null }
  if (!knownTypes.has(type)) return undefined
  const read = serverLine.safeParse(value.json)
  return read.success ? read.data : { fault: wordsOf(read.error), id: idOf(value.json) }
}

export function isLineFault(line: object | undefined): line is LineFault {
  return line !== undefined && 'fault' in line
}

const knownTypes: ReadonlySet<string> = new Set([
  'hello',
  'refused',
  'held',
  'held-changed',
  'released',
  'state',
  'live',
  'gap',
  'notice',
  'ended',
  'reply',
] satisfies Exclude<ServerLine['type'], 'record'>[])

function parse(text: string): { json: unknown } | { fault: string } {
  if (text.length > longestLine) return { fault: `a line may have at most ${longestLine} characters` }
  try {
    return { json: JSON.parse(text) }
  } catch {
    return { fault: 'not valid JSON' }
  }
}

function typeOf(json: unknown): string | undefined {
  const type = memberOf(json, 'type')
  return typeof type === 'string' ? type : undefined
}

function idOf(json: unknown): number | null {
  const id = memberOf(json, 'id')
  return typeof id === 'number' && Number.isSafeInteger(id) ? id : null
}

function memberOf(json: unknown, name: string): unknown {
  return typeof json === 'object' && json !== null && Object.hasOwn(json, name)
    ? (json as Record<string, unknown>)[name]
    : undefined
}

/** The first problem, in one line. */
function wordsOf(error: z.ZodError): string {
  const [issue] = error.issues
  if (!issue) return 'does not match the protocol'
  const at = issue.path.length === 0 ? '' : `${issue.path.join('.')}: `
  return `${at}${issue.message}`
}
