/** A number keeps its text. */
export class Num {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}
export type Json = null | boolean | string | Num | Json[] | Map<string, Json>

export function show(value: Json): string {
  if (value instanceof Num) return value.text
  if (value instanceof Map)
    return `{${[...value].map(([name, member]) => `${JSON.stringify(name)}:${show(member)}`).join(',')}}`
  return Array.isArray(value) ? `[${value.map(show).join(',')}]` : JSON.stringify(value)
}

const token =
  /[ \t\r\n]*(?:([{}[\],:])|("(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)|(true|false|null))/y

/** A JSON parser with the limits of the importers' reader. @param unique refuses a duplicate member */
export function parseJson(text: string, unique: boolean): Json {
  let at = 0
  let depth = 0

  function next(): RegExpExecArray {
    token.lastIndex = at
    const found = token.exec(text)
    if (!found) throw new Error(`not JSON at ${at}`)
    at = token.lastIndex
    return found
  }

  function stringOf(quoted: string): string {
    const value = JSON.parse(quoted) as string
    if (/\p{Surrogate}/u.test(value)) throw new Error('lone surrogate')
    return value
  }

  function punctuation(...allowed: string[]): string {
    const mark = next()[1] ?? ''
    if (!allowed.includes(mark)) throw new Error(`expected ${allowed.join(' or ')} at ${at}`)
    return mark
  }

  function peek(mark: string): boolean {
    const before = at
    if (next()[1] === mark) return true
    at = before
    return false
  }

  function value(): Json {
    const [, mark, quoted, digits, word] = next()
    if (quoted !== undefined) return stringOf(quoted)
    if (digits !== undefined) {
      if (!Number.isFinite(Number(digits))) throw new Error('number out of range')
      return new Num(digits)
    }
    if (word !== undefined) return JSON.parse(word) as null | boolean
    if (mark !== '{' && mark !== '[') throw new Error(`expected a value at ${at}`)
    depth += 1
    if (depth > 127) throw new Error('recursion limit exceeded')
    const result = mark === '[' ? array() : object()
    depth -= 1
    return result
  }

  function array(): Json[] {
    const elements: Json[] = []
    if (peek(']')) return elements
    do elements.push(value())
    while (punctuation(',', ']') === ',')
    return elements
  }

  function object(): Map<string, Json> {
    const members = new Map<string, Json>()
    if (peek('}')) return members
    do {
      const quoted = next()[2]
      if (quoted === undefined) throw new Error(`expected a name at ${at}`)
      punctuation(':')
      const name = stringOf(quoted)
      const member = value()
      if (unique && members.has(name)) throw new Error('JSON object contains a duplicate member')
      members.set(name, member)
    } while (punctuation(',', '}') === ',')
    return members
  }

  const whole = value()
  if (text.slice(at).trim() !== '') throw new Error('trailing characters')
  return whole
}
