import type { Direction } from './envelope.js'

/** Key of a request in maps: a number for a short id of digits, or else the text of `requestKey`. */
export type Key = string | number

/** An id of a plain message: a number for short digits, or the result of `idKey` for any id. */
export type PlainId = string | number

/** Key of a request of one side. @param id canonical */
export function requestKey(conversation: string, direction: Direction, id: string): string {
  return `${direction === 'client_to_server' ? '>' : '<'}${conversation.length} ${conversation} ${id}`
}

/** Makes keys. Most are numbers: a text would have to be made and hashed for each message. */
export class RequestKeys {
  /** Numbers of the first conversations, and their names. */
  readonly #numbers = new Map<string, number>()
  readonly #names: string[] = []
  #last = ''
  #lastFirst = 0

  /** @param direction of the request that introduced the id, token or task @param id a number, or canonical */
  of(conversation: string, direction: Direction, id: PlainId): Key {
    const number = typeof id === 'number' ? id : smallNumber(id)
    const first = number < 0 || (conversation !== '' && number >= idsEach) ? -1 : this.#firstOf(conversation)
    if (first < 0) return requestKey(conversation, direction, String(id))
    return direction === 'client_to_server' ? first + number : -1 - first - number
  }

  /** The text form, as `requestKey` returns it. */
  textOf(key: Key): string {
    if (typeof key === 'string') return key
    const direction = key >= 0 ? 'client_to_server' : 'server_to_client'
    const number = key >= 0 ? key : -1 - key
    if (number < firstNamed) return requestKey('', direction, String(number))
    const place = Math.floor((number - firstNamed) / idsEach)
    return requestKey(this.#names[place]!, direction, String((number - firstNamed) % idsEach))
  }

  /** The number of id 0 of a conversation, or -1 for one without numbers. */
  #firstOf(conversation: string): number {
    if (conversation === '') return 0
    if (conversation === this.#last) return this.#lastFirst
    let place = this.#numbers.get(conversation)
    if (place === undefined && this.#names.length < mostNumbered && conversation.length <= longestName) {
      place = this.#names.push(conversation) - 1
      this.#numbers.set(conversation, place)
    }
    this.#last = conversation
    return (this.#lastFirst = place === undefined ? -1 : firstNamed + place * idsEach)
  }
}

/** Numbers below this one belong to the conversation ''. */
const firstNamed = 1e15
/** Ids of a named conversation that get numbers. */
const idsEach = 2 ** 31
/** Conversations that get numbers, and their longest name: they are remembered. Others have texts. */
const mostNumbered = 4_096
const longestName = 200

/** Most digits that a number holds exactly. */
const mostDigits = 15

/** A short digit text as a number; any other text unchanged. @param id canonical */
export function plainId(id: string): PlainId {
  const number = smallNumber(id)
  return number < 0 ? id : number
}

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
