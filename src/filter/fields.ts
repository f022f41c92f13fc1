import type { FilterSubject } from './subject.js'

/** Source of a field: the columns of a row, the names that an index keeps, or the record only. */
export type FieldSource = 'columns' | 'names' | 'record'

interface Field<Value> {
  /** Null if the row has none. */
  readonly of: (subject: FilterSubject) => Value | null
  readonly from: FieldSource
}

/** The names of a row. A list separated by commas matches if one name does. */
export const nameFields = {
  method: { of: ({ method }) => method, from: 'names' },
  name: { of: ({ name }) => name, from: 'names' },
  tool: { of: ({ method, name }) => (method === 'tools/call' ? name : null), from: 'names' },
  prompt: { of: ({ method, name }) => (method === 'prompts/get' ? name : null), from: 'names' },
  resource: { of: resourceOf, from: 'names' },
  conversation: { of: ({ conversation }) => conversation, from: 'record' },
  rule: { of: ({ rule }) => rule, from: 'record', isList: true },
} as const satisfies Readonly<Record<string, Field<string> & { readonly isList?: true }>>

export type NameField = keyof typeof nameFields

/** The numbers of a row, in milliseconds and bytes. */
export const numberFields = {
  sequence: { of: ({ sequence }) => sequence, from: 'columns', words: 'number' },
  latencyMs: { of: ({ latencyMs }) => latencyMs, from: 'columns', words: 'latency' },
  sizeBytes: { of: ({ sizeBytes }) => sizeBytes, from: 'columns', words: 'size' },
  timeMs: { of: ({ timeMs }) => timeMs, from: 'record', words: 'time' },
  httpStatus: { of: ({ httpStatus }) => httpStatus, from: 'record', words: 'HTTP status' },
  errorCode: {
    of: ({ errorCode }) => (errorCode === null ? null : Number(errorCode)),
    from: 'record',
    words: 'error code',
  },
} as const satisfies Readonly<Record<string, Field<number> & { readonly words: string }>>

export type NumberField = keyof typeof numberFields

function resourceOf({ method, name }: FilterSubject): string | null {
  const isOfResource = method?.startsWith('resources/') || method === 'notifications/resources/updated'
  return isOfResource ? name : null
}
