import type { SchemaFault } from '../../../compare/index.js'
import type { Message } from '../../message.js'

/** Pointers to redacted values below a place in the message. */
export function hiddenBelow(message: Message, place: string): Set<string> {
  const marks = message.record.red ?? []
  return new Set(
    marks.flatMap(({ at: pointer }) => {
      const own = message.record.batch ? pointer.replace(/^\/\d+/, '') : pointer
      return own.startsWith(place) ? [own.slice(place.length)] : []
    }),
  )
}

/** `/a/b is a string, not a number`; at most the first three. */
export function describeFaults(faults: readonly SchemaFault[]): string {
  const shown = faults.slice(0, 3).map((fault) => `${fault.at === '' ? 'it' : fault.at} ${fault.problem}`)
  const more = faults.length > 3 ? `, and ${faults.length - 3} more` : ''
  return `${shown.join('; ')}${more}`
}
