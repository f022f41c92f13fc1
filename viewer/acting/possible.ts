import { table } from '../store/state.js'
import { door } from './door.js'

/** Whether a row belongs to a request that the page can send: one of the client. */
export function canSendAgain(row: number): boolean {
  const { request } = door.rowFacts(row)
  return request >= 0 && !table.has(request, 'fromServer')
}

const overridable: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read'])

/** Whether a rule can answer calls like that of a row: they need a name or URI, and a response as a draft. */
export function canOverride(row: number): boolean {
  const { request, answer } = door.rowFacts(row)
  return (
    answer >= 0 &&
    canSendAgain(row) &&
    overridable.has(table.method(request)) &&
    table.subject(request) !== ''
  )
}
