import type { NameField, NumberField } from './fields.js'
import type { FilterFlag, FindingLevel, SubjectStatus } from './subject.js'
import { loneKinds, recordTypes, type Direction, type LoneKind, type Transport } from '../model/index.js'

/** A key of the language, what comes after it, and the words that tell of both. */
export interface FilterKey {
  readonly name: string
  readonly aliases?: readonly string[]
  readonly value: ValueRule
  /** What it is about, for a list of completions. */
  readonly about: string
}

export type ValueRule =
  | { readonly kind: 'name'; readonly field: NameField; readonly example: string }
  | {
      readonly kind: 'number'
      readonly field: NumberField
      readonly unit: 'none' | 'duration' | 'size' | 'integer'
      readonly example: string
      /** A plain number says nothing useful: a comparison has to stand before it. */
      readonly compared?: boolean
    }
  | { readonly kind: 'time'; readonly side: '>=' | '<' }
  | {
      readonly kind:
        | 'flag'
        | 'direction'
        | 'transport'
        | 'status'
        | 'id'
        | 'finding'
        | 'level'
        | 'text'
        | 'path'
    }

export const filterKeys: readonly FilterKey[] = [
  {
    name: 'method',
    value: { kind: 'name', field: 'method', example: 'tools/call' },
    about: 'method; of an answer, of its request',
  },
  { name: 'tool', value: { kind: 'name', field: 'tool', example: 'search' }, about: 'tool that is called' },
  {
    name: 'prompt',
    value: { kind: 'name', field: 'prompt', example: 'review' },
    about: 'prompt that is asked for',
  },
  {
    name: 'resource',
    aliases: ['uri'],
    value: { kind: 'name', field: 'resource', example: 'file:*' },
    about: 'URI of the resource',
  },
  {
    name: 'name',
    value: { kind: 'name', field: 'name', example: 'search' },
    about: 'tool, prompt, resource or task',
  },
  { name: 'dir', aliases: ['direction'], value: { kind: 'direction' }, about: 'in: client to server; out' },
  { name: 'is', value: { kind: 'flag' }, about: 'what it is, what happened to it' },
  { name: 'status', value: { kind: 'status' }, about: 'how the exchange ended, or its HTTP status' },
  { name: 'id', value: { kind: 'id' }, about: 'JSON-RPC id' },
  {
    name: 'seq',
    value: { kind: 'number', field: 'sequence', unit: 'integer', example: '12' },
    about: 'message number',
  },
  {
    name: 'latency',
    aliases: ['duration'],
    value: { kind: 'number', field: 'latencyMs', unit: 'duration', example: '>200ms', compared: true },
    about: 'from request to answer',
  },
  {
    name: 'size',
    value: { kind: 'number', field: 'sizeBytes', unit: 'size', example: '>10kB' },
    about: 'bytes of the message',
  },
  {
    name: 'code',
    value: { kind: 'number', field: 'errorCode', unit: 'integer', example: '-32602' },
    about: 'code of a JSON-RPC error',
  },
  {
    name: 'since',
    aliases: ['after'],
    value: { kind: 'time', side: '>=' },
    about: 'at or after: 10m, a time',
  },
  { name: 'until', aliases: ['before'], value: { kind: 'time', side: '<' }, about: 'before: 10m, a time' },
  {
    name: 'conv',
    aliases: ['conversation'],
    value: { kind: 'name', field: 'conversation', example: '3f2a*' },
    about: "which client's talk",
  },
  { name: 'transport', value: { kind: 'transport' }, about: 'stdio, sse or streamable-http' },
  {
    name: 'rule',
    value: { kind: 'name', field: 'rule', example: 'block-secret' },
    about: 'rule that was applied',
  },
  { name: 'finding', value: { kind: 'finding' }, about: 'a rule found something: its id, a pack, *' },
  { name: 'level', value: { kind: 'level' }, about: 'a rule found something of this level' },
  { name: 'text', value: { kind: 'text' }, about: 'somewhere in the message' },
  { name: 'path', value: { kind: 'path' }, about: 'JSONPath into the message' },
]

/** By name or alias. */
export function findKey(name: string): FilterKey | undefined {
  return filterKeys.find((key) => key.name === name || key.aliases?.includes(name))
}

export const directionWords: ReadonlyMap<string, Direction> = new Map([
  ['in', 'client_to_server'],
  ['out', 'server_to_client'],
  ['client_to_server', 'client_to_server'],
  ['server_to_client', 'server_to_client'],
])

export const transportWords: ReadonlyMap<string, Transport> = new Map([
  ['stdio', 'stdio'],
  ['sse', 'sse'],
  ['streamable-http', 'streamable-http'],
  ['http', 'streamable-http'],
])

export const statusWords: ReadonlyMap<string, SubjectStatus> = new Map([
  ['ok', 'ok'],
  ['error', 'error'],
  ['unanswered', 'unanswered'],
  ['cancelled', 'cancelled'],
])

export const levelWords: ReadonlyMap<string, FindingLevel> = new Map([
  ['error', 'error'],
  ['warning', 'warning'],
  ['note', 'note'],
])

/** Every flag, and what it says of a message. */
const wordsOfFlags: Readonly<Record<Exclude<FilterFlag, LoneKind>, string>> = {
  request: 'asks for an answer',
  notification: 'asks for none',
  answer: 'a result or an error',
  result: 'a result',
  error: 'a JSON-RPC error or a failed tool',
  'tool-error': 'a tool that failed',
  invalid: 'JSON, but not JSON-RPC',
  ...Object.fromEntries(loneKinds.map((kind) => [kind, recordTypes[kind].about ?? kind])),
  unanswered: 'a request without an answer',
  cancelled: 'a request that was cancelled',
  late: 'an answer after the answer',
  orphan: 'an answer to no request',
  duplicate: 'its id was in use twice',
  batch: 'part of a batch',
  modified: 'changed on its way',
  dropped: 'not passed on',
  held: 'was made to wait',
  waiting: 'waits for somebody to decide',
  injected: 'put in by a person or a rule',
  undelivered: 'did not reach the other side',
}

export const flagWords: ReadonlyMap<FilterFlag, string> = new Map(
  Object.entries(wordsOfFlags) as [FilterFlag, string][],
)
