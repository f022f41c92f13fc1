import { findJsonValue, isFault, memberOf, membersOf, kindAt } from '../wire/index.js'
import { canonicalJson } from './canonical-json.js'

/** How much of a request counts when it is compared with another one. */
export interface RequestKeyOptions {
  /** Values that redaction took out: JSON Pointer into the message, and tag. */
  readonly redacted?: readonly { readonly at: string; readonly tag: string }[]
  /**
   * What stands for a redacted value. `tag`: equal secrets of one tape are equal. `any`: all are alike, as
   * where two recordings are compared.
   *
   * @default 'tag'
   */
  readonly secrets?: 'tag' | 'any'
  /**
   * `any`: cursors, task ids and request states count as present or absent only, since every run of a server
   * makes its own.
   *
   * @default 'exact'
   */
  readonly opaque?: 'exact' | 'any'
}

/** Stands for a value that may be anything. No JSON text looks like it. */
export const anything = '‹any›'

/** Members of `_meta` that say who asks and how to trace it, and nothing about what is asked. */
const metaOfTransport =
  /^\/params\/_meta\/(?:progressToken|traceparent|tracestate|baggage|io\.modelcontextprotocol~1[^/]*)$/

/** Values that a server made and that mean something to it alone. */
const opaquePlace =
  /^\/params\/(?:cursor|requestState|taskId|_meta\/io\.modelcontextprotocol~1related-task\/taskId)$/

/** What the client says about itself when it opens a conversation. */
const openers: ReadonlySet<string> = new Set(['initialize', 'server/discover'])

/**
 * The `params` of a request as one text, equal for requests that ask for the same: written in any order and
 * spelling, by any client, with any progress token or trace context. `''` when there are none, or when they say
 * only who asks (`initialize`, `server/discover`).
 *
 * @param message exact text of the request
 */
export function paramsKey(message: string, method: string, options: RequestKeyOptions = {}): string {
  if (openers.has(method)) return ''
  const found = findJsonValue(message)
  if (isFault(found)) return message
  const params = memberOf(membersOf(message, found.start), 'params')
  if (!params) return ''
  const tags = new Map((options.redacted ?? []).map(({ at, tag }) => [at, tag]))
  const key = canonicalJson(
    message,
    params.start,
    (at, text, start) => {
      const tag = tags.get(at)
      if (tag !== undefined) return options.secrets === 'any' ? anything : `‹${tag}›`
      if (options.opaque === 'any' && opaquePlace.test(at)) return anything
      if (at.startsWith('/params/_meta')) {
        if (metaOfTransport.test(at)) return ''
        if (at === '/params/_meta' && isOfTransportOnly(text, start)) return ''
      }
      return undefined
    },
    '/params',
  )
  return key === '{}' ? '' : key
}

function isOfTransportOnly(text: string, start: number): boolean {
  if (kindAt(text, start) !== 'object') return false
  return membersOf(text, start).every(({ name }) =>
    metaOfTransport.test(`/params/_meta/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`),
  )
}
