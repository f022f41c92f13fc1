import type { Direction } from './envelope.js'

/**
 * Key of a request in maps: a number for a short id of digits in the only connection, or else the text of `requestKey`.
 * Numbers avoid making a text for each message.
 */
export type Key = string | number

/** An id of a plain message: a number for short digits, or the result of `idKey` for any id. */
export type PlainId = string | number

/** Key of a request of one side. @param id canonical */
export function requestKey(conversation: string, direction: Direction, id: string): string {
  return `${direction === 'client_to_server' ? '>' : '<'}${conversation.length} ${conversation} ${id}`
}

/** As `requestKey`. @param direction of the request that introduced the id, token or task */
export function keyOf(conversation: string, direction: Direction, id: string): Key {
  const number = conversation === '' ? smallNumber(id) : -1
  return number < 0 ? requestKey(conversation, direction, id) : plainKey(direction, number)
}

/** In the conversation `''`. */
export function plainKey(direction: Direction, id: PlainId): Key {
  if (typeof id === 'string') return keyOf('', direction, id)
  return direction === 'client_to_server' ? id : -1 - id
}

/** The text form, as `requestKey` returns it. */
export function keyText(key: Key): string {
  if (typeof key === 'string') return key
  return key >= 0
    ? requestKey('', 'client_to_server', String(key))
    : requestKey('', 'server_to_client', String(-1 - key))
}

/** Most digits that a number holds exactly. */
const mostDigits = 15

/** The number of a short digit text, or -1. */
function smallNumber(id: string): number {
  if (id.length === 0 || id.length > mostDigits || (id.length > 1 && id.charCodeAt(0) === 0x30)) return -1
  let number = 0
  for (let i = 0; i < id.length; i += 1) {
    const digit = id.charCodeAt(i) - 0x30
    if (digit < 0 || digit > 9) return -1
    number = number * 10 + digit
  }
  return number
}
