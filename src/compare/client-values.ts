import { detach } from '../model/index.js'
import { elementsOf, kindAt, membersOf } from '../wire/index.js'
import { deepest } from './canonical-json.js'
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
      function visit(at: number, end: number, name: string, depth: number): void {
        const kind = kindAt(message, at)
        const text = message.slice(at, end)
        if (kind === 'string') {
          const isNamed = isIdName(name)
          if (isNamed || /\d/.test(text)) note(decoded(text), row)
        } else if (kind === 'number') {
          if (isIdName(name)) note(text, row)
        } else if (depth === deepest) return
        else if (kind === 'array')
          for (const element of elementsOf(message, at)) visit(element.start, element.end, name, depth + 1)
        else if (kind === 'object')
          for (const member of membersOf(message, at)) visit(member.start, member.end, member.name, depth + 1)
      }
      visit(start, message.length, '', 0)
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
