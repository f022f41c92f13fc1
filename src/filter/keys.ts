import type { NameField, NumberField } from './fields.js'
import type { FilterFlag, FindingLevel, SubjectStatus } from './subject.js'
import { loneKinds, recordTypes, type Direction, type LoneKind, type Transport } from '../model/index.js'

/** A key of the filter language, its kind of value, and their descriptions. */
export interface FilterKey {
  readonly name: string
  readonly aliases?: readonly string[]
  readonly value: ValueRule
  /** Description for a list of completions. */
  readonly about: string
}

export type ValueRule =
  | { readonly kind: 'name'; readonly field: NameField; readonly example: string }
  | {
      readonly kind: 'number'
      readonly field: NumberField
      readonly unit: 'none' | 'duration' | 'size' | 'integer'
      readonly example: string
      /** A plain number is not useful: a comparison operator is required. */
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
    about: 'method (of a response: of its request)',
  },
  { name: 'tool', value: { kind: 'name', field: 'tool', example: 'search' }, about: 'called tool' },
  {
    name: 'prompt',
    value: { kind: 'name', field: 'prompt', example: 'review' },
    about: 'requested prompt',
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
  {
    name: 'dir',
    aliases: ['direction'],
    value: { kind: 'direction' },
    about: 'in (client to server) or out',
  },
  { name: 'is', value: { kind: 'flag' }, about: 'type or state of the message' },
  { name: 'status', value: { kind: 'status' }, about: 'outcome of the exchange, or HTTP status' },
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
    about: 'time from request to response',
  },
  {
    name: 'size',
    value: { kind: 'number', field: 'sizeBytes', unit: 'size', example: '>10kB' },
    about: 'size of the message in bytes',
  },
  {
    name: 'code',
    value: { kind: 'number', field: 'errorCode', unit: 'integer', example: '-32602' },
    about: 'JSON-RPC error code',
  },
  {
    name: 'since',
    aliases: ['after'],
    value: { kind: 'time', side: '>=' },
    about: 'from this time on: 10m, or a time',
  },
  {
    name: 'until',
    aliases: ['before'],
    value: { kind: 'time', side: '<' },
    about: 'before this time: 10m, or a time',
  },
  {
    name: 'conv',
    aliases: ['conversation'],
    value: { kind: 'name', field: 'conversation', example: '3f2a*' },
    about: 'conversation of a client',
  },
  { name: 'transport', value: { kind: 'transport' }, about: 'stdio, sse or streamable-http' },
  {
    name: 'rule',
    value: { kind: 'name', field: 'rule', example: 'block-secret' },
    about: 'applied rule',
  },
  { name: 'finding', value: { kind: 'finding' }, about: 'has a finding: rule id, pack or *' },
  { name: 'level', value: { kind: 'level' }, about: 'has a finding of this level' },
  { name: 'text', value: { kind: 'text' }, about: 'text anywhere in the message' },
  { name: 'path', value: { kind: 'path' }, about: 'value at a JSONPath in the message' },
]

/** Finds a key by name or alias. */
export function findKey(name: string): FilterKey | undefined {
  return filterKeys.find((key) => key.name === name || key.aliases?.includes(name))
}

/** Words of the keys that take one of a few values. */
export const valueWords = {
  direction: new Map<string, Direction>([
    ['in', 'client_to_server'],
    ['out', 'server_to_client'],
    ...asTheyAre<Direction>('client_to_server', 'server_to_client'),
  ]),
  transport: new Map<string, Transport>([
    ...asTheyAre<Transport>('stdio', 'sse', 'streamable-http'),
    ['http', 'streamable-http'],
  ]),
  status: new Map(asTheyAre<SubjectStatus>('ok', 'error', 'unanswered', 'cancelled')),
  level: new Map(asTheyAre<FindingLevel>('error', 'warning', 'note')),
} as const

function asTheyAre<T extends string>(...words: T[]): (readonly [word: string, value: T])[] {
  return words.map((word) => [word, word])
}

/** Every flag, with its description. */
const wordsOfFlags: Readonly<Record<Exclude<FilterFlag, LoneKind>, string>> = {
  request: 'a request',
  notification: 'a notification',
  answer: 'a result or an error',
  result: 'a result',
  error: 'a JSON-RPC error or a failed tool call',
  'tool-error': 'a failed tool call',
  invalid: 'JSON, but not JSON-RPC',
  ...Object.fromEntries(loneKinds.map((kind) => [kind, recordTypes[kind].about ?? kind])),
  unanswered: 'a request without a response',
  cancelled: 'a cancelled request',
  late: 'a second response to a request',
  orphan: 'a response without a recorded request',
  duplicate: 'its id is a duplicate',
  batch: 'part of a batch',
  modified: 'changed by a person or a rule',
  dropped: 'never forwarded',
  held: 'was held',
  waiting: 'still held',
  injected: 'added by a person or a rule',
  undelivered: 'not delivered to the other side',
}

export const flagWords: ReadonlyMap<FilterFlag, string> = new Map(
  Object.entries(wordsOfFlags) as [FilterFlag, string][],
)
