import type { HttpPhases } from '../model/index.js'
import { formatDuration } from './units.js'

/** A phase of an HTTP exchange; connection phases only if a new connection was made for it. */
export interface PhaseView {
  readonly name: string
  readonly us: number
}

/** In chronological order. @param streamUs from the response head to its last message, if known */
export function phaseViews({ dnsMs, connectMs, tlsMs, waitMs }: HttpPhases, streamUs?: number): PhaseView[] {
  const views: PhaseView[] = []
  const add = (name: string, ms: number | undefined): void => {
    if (ms !== undefined) views.push({ name, us: ms * 1000 })
  }
  add('DNS', dnsMs)
  add('connect', connectMs)
  add('TLS', tlsMs)
  add('wait', waitMs)
  if (streamUs !== undefined) views.push({ name: 'stream', us: streamUs })
  return views
}

/** `DNS 1.2 ms, connect 0.4 ms, wait 3.1 ms`; `reused connection, wait 3.1 ms`. */
export function phaseWords(phases: HttpPhases): string {
  const words = phaseViews(phases).map(({ name, us }) => `${name} ${formatDuration(us)}`)
  return (phases.connectMs === undefined ? ['reused connection', ...words] : words).join(', ')
}
