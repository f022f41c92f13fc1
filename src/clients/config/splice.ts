import type { ConfigMember, ConfigNode, ConfigSyntax } from './tree.js'

/** Replaces `text.slice(start, end)`. */
export interface Splice {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Splices must not overlap. Those at one offset are applied in the order given. */
export function applySplices(text: string, splices: readonly Splice[]): string {
  const order = splices.map((splice, i) => ({ splice, i }))
  order.sort((a, b) => b.splice.start - a.splice.start || b.i - a.i)
  let result = text
  for (const { splice } of order)
    result = result.slice(0, splice.start) + splice.text + result.slice(splice.end)
  return result
}

/** Makes splices for small changes, in the style of the surrounding text. */
export interface Splicer {
  quote(value: string): string
  setText(node: ConfigNode, value: string): Splice
  /** Replaces a node by the text of another node. */
  move(from: ConfigNode, to: ConfigNode): Splice
  /** Inserts strings at the start of a list. */
  prepend(list: ConfigNode, values: readonly string[]): Splice
  /** Removes the first items of a list. */
  dropFirst(list: ConfigNode, count: number): Splice
  /** Inserts a member before another. @param value the text of its value */
  insertBefore(member: ConfigMember, key: string, value: string): Splice
  remove(map: ConfigNode, member: ConfigMember): Splice
  setKey(member: ConfigMember, key: string): Splice
  /** A list of strings on one line. */
  listText(values: readonly string[]): string
  /** A map of strings on one line. */
  mapText(values: readonly (readonly [string, string])[]): string
}

export function createSplicer(text: string, syntax: ConfigSyntax): Splicer {
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const assign = syntax === 'toml' ? ' = ' : ': '

  /** Only TOML requires DEL to be escaped; YAML accepts JSON strings. */
  const quote = (value: string): string => JSON.stringify(value).replaceAll('\u007f', String.raw`\u007f`)
  const keyText = (key: string): string =>
    syntax !== 'json' && /^[A-Za-z_][\w-]*$/.test(key) ? key : quote(key)
  const lineStart = (offset: number): number => text.lastIndexOf('\n', offset - 1) + 1
  /** A line break and indentation that align the next word with the one at `offset`. */
  const under = (offset: number): string => {
    const before = text.slice(lineStart(offset), offset)
    return eol + (/^\s*$/.test(before) ? before : ' '.repeat(before.length))
  }
  const opensLine = (offset: number): boolean => /^[\s-]*$/.test(text.slice(lineStart(offset), offset))
  const listText = (values: readonly string[]): string => `[${values.map(quote).join(', ')}]`

  function prepend(list: ConfigNode, values: readonly string[]): Splice {
    const [first, second] = list.items
    if (!first) return { start: list.start, end: list.end, text: listText(values) }
    if (!list.flow) {
      const added = values.map((value) => `- ${quote(value)}${under(first.start)}`).join('')
      return { start: first.start, end: first.start, text: added }
    }
    // The list's own separator, unless it includes a comment.
    const found = second && text.slice(first.value.end, second.start)
    const plain = opensLine(first.start) ? `,${under(first.start)}` : ', '
    const separator = found !== undefined && /^\s*,\s*$/.test(found) ? found : plain
    const added = values.map((value) => quote(value) + separator).join('')
    return { start: first.start, end: first.start, text: added }
  }

  function dropFirst(list: ConfigNode, count: number): Splice {
    const kept = list.items[count]
    if (!kept && list.flow) return { start: list.start, end: list.end, text: '[]' }
    // Dashes of an indented list are on lines of their own, brackets beside the name.
    if (!kept) return { start: text.slice(0, list.start).trimEnd().length, end: list.end, text: ' []' }
    return { start: list.items[0]!.start, end: kept.start, text: '' }
  }

  function insertBefore(member: ConfigMember, key: string, value: string): Splice {
    const { keyStart: at } = member
    const isOwnLine = opensLine(at)
    const gap = isOwnLine ? under(at) : ' '
    const comma = syntax === 'json' || !isOwnLine ? ',' : ''
    return { start: at, end: at, text: `${keyText(key)}${assign}${value}${comma}${gap}` }
  }

  function remove(map: ConfigNode, member: ConfigMember): Splice {
    const at = map.members.indexOf(member)
    const next = map.members[at + 1]
    if (next) return { start: member.keyStart, end: next.keyStart, text: '' }
    const before = map.members[at - 1]
    return { start: before?.value.end ?? member.keyStart, end: member.value.end, text: '' }
  }

  return {
    quote,
    setText: ({ start, end }, value) => {
      const isPlain =
        syntax === 'yaml' && !/^['"]/.test(text.slice(start, end)) && /^[a-z][\w-]*$/i.test(value)
      return { start, end, text: isPlain ? value : quote(value) }
    },
    move: (from, to) => ({ start: to.start, end: to.end, text: text.slice(from.start, from.end) }),
    prepend,
    dropFirst,
    insertBefore,
    remove,
    setKey: ({ keyStart, keyEnd }, key) => ({
      start: keyStart,
      end: keyEnd,
      text: syntax === 'json' ? quote(key) : keyText(key),
    }),
    listText,
    mapText: (values) =>
      `{${values.map(([key, value]) => `${keyText(key)}${assign}${quote(value)}`).join(', ')}}`,
  }
}
