import { detach } from '../model/index.js'
import { eachScalar } from '../wire/index.js'
import { isIdName } from './made-ids.js'
import type { Use } from './varying.js'

/** Values in a client's requests that may name something of the server: ids, handles, row numbers. */
export interface ClientValues {
  /** @param message exact text of a request; the value of `params` begins at `start` */
  take(row: number, message: string, start: number): void
  /** @param value from the response in that row: text of a number, or decoded string */
  useOf(value: string, answerRow: number): Use
}

const mostValues = 50_000
const longest = 300

export function createClientValues(): ClientValues {
  /** First row with each value. */
  const first = new Map<string, number>()

  function note(value: string, row: number): void {
    if (first.size < mostValues && value.length <= longest && !first.has(value)) first.set(detach(value), row)
  }

  return {
    take(row, message, start) {
      eachScalar(message, { start, end: message.length }, (value) => {
        const text = message.slice(value.start, value.end)
        if (value.kind === 'string') {
          if (isIdName(value.name) || /\d/.test(text)) note(decoded(text), row)
        } else if (value.kind === 'number' && isIdName(value.name)) note(text, row)
      })
    },
    useOf(value, answerRow) {
      const row = first.get(value)
      if (row === undefined) return undefined
      return row < answerRow ? 'said' : 'gives back'
    },
  }
}

function decoded(json: string): string {
  return json.includes('\\') ? (JSON.parse(json) as string) : json.slice(1, -1)
}
