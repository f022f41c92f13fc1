import { JsonObject } from '../../wire/index.js'
import type { TraceParent } from './telemetry.js'

/** The W3C requires propagation of at most 512 characters. */
const longestState = 512

/** @param message exact JSON text */
export function parentOf(message: string): TraceParent | undefined {
  if (!message.includes('traceparent')) return undefined
  const meta = new JsonObject(message, 0).object('params')?.object('_meta')
  const [, version, traceId, spanId, flags, more] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/.exec(
      meta?.string('traceparent') ?? '',
    ) ?? []
  // Version 255 is invalid, and only versions after 0 may have more fields.
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined
  // All zeros are an invalid id.
  if (traceId === undefined || spanId === undefined || /^0+$/.test(traceId) || /^0+$/.test(spanId))
    return undefined
  const state = meta?.string('tracestate')
  const isState = state !== undefined && state.length <= longestState && /^[\t\x20-\x7e]*$/.test(state)
  return { traceId, spanId, flags: Number.parseInt(flags!, 16), state: isState ? state : undefined }
}

/** The same id for the same name: FNV-1a, word by word. Never all zeros. */
export function hexId(name: string, bytes: number): string {
  let hex = ''
  for (let seed = 1; hex.length < bytes * 2; seed += 1) {
    let hash = 0x811c9dc5 ^ Math.imul(seed, 0x9e3779b1)
    for (let i = 0; i < name.length; i += 1) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193)
    // Short names differ only in their last characters, which FNV mixes little.
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
    hash = Math.imul(hash ^ (hash >>> 12), 0x297a2d39)
    hash ^= hash >>> 15
    hex += (hash >>> 0).toString(16).padStart(8, '0')
  }
  return /^0+$/.test(hex) ? hex.replace(/0$/, '1') : hex
}
