import { escapeText, formatDuration } from '../../render/index.js'
import type { CallFacts, RowTime } from './call.js'

/** Names of the two sides of a call. */
export interface Sides {
  /** The sender of the request. */
  readonly asker: 'client' | 'server'
  readonly other: 'client' | 'server'
}

export function sidesOf({ direction }: Pick<CallFacts, 'direction'>): Sides {
  return direction === 'client_to_server'
    ? { asker: 'client', other: 'server' }
    : { asker: 'server', other: 'client' }
}

/** `tools/call search` */
export function callName({ method, subject }: Pick<CallFacts, 'method' | 'subject'>): string {
  return escapeText(subject === undefined ? method : `${method} ${subject}`)
}

export function quoted(text: string): string {
  return `“${escapeText(text.trim())}”`
}

/** `#12`; `a message` if it has no number. */
export function numberOf({ seq }: Pick<RowTime, 'seq'>): string {
  return seq < 0 ? 'a message' : `#${seq}`
}

export function numbersIn(...moments: readonly (Pick<RowTime, 'seq'> | undefined)[]): number[] {
  return moments.flatMap((moment) => (moment && moment.seq >= 0 ? [moment.seq] : []))
}

/** ` after 12 ms`; empty if the recording has no times. */
export function after(from: number | undefined, to: number | undefined): string {
  if (from === undefined || to === undefined || to < from) return ''
  return ` after ${formatDuration(to - from)}`
}

/** `12 ms later`, or `later`. */
export function later(from: number | undefined, to: number | undefined): string {
  return from === undefined || to === undefined || to < from ? 'later' : `${formatDuration(to - from)} later`
}

/** Why an HTTP exchange failed. The side is omitted where the reason names it: `upstream: the server closed …`. */
export function httpReason(why: string): string {
  const [, by, reason = ''] = /^(upstream|client): (.*)$/s.exec(why) ?? []
  if (by === undefined) return escapeText(why)
  const side = by === 'upstream' ? 'server' : 'client'
  return escapeText(reason.includes(`the ${side} `) ? reason : `${side}: ${reason}`)
}

/** Capitalises a sentence, unless it begins with our name. */
export function capital(text: string): string {
  return text.startsWith('wiretape') ? text : text.charAt(0).toUpperCase() + text.slice(1)
}

export function joined(parts: readonly string[]): string {
  return parts.filter(Boolean).join(' ')
}
