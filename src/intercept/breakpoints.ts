import { parseFilter, type Filter } from '../filter/index.js'
import { GateFault } from './fault.js'

/** @throws GateFault `invalid` for an invalid filter */
export function parseBreakpoints(texts: readonly string[]): Filter[] {
  return texts.map(toFilter)
}

function toFilter(text: string): Filter {
  const { filter, fault } = parseFilter(text, { findings: 'refused' })
  if (filter) return filter
  throw new GateFault(
    'invalid',
    `the filter ${JSON.stringify(text)}, column ${fault.column}: ${fault.message}`,
  )
}
