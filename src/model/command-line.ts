/** A command line split into words, or the reason why it cannot be split. */
export type CommandWords = { readonly words: string[] } | { readonly fault: string }

/**
 * Splits a command line by the quoting rules of a POSIX shell (XCU 2.2 Quoting), without a shell: quotes and
 * backslashes are special; variables, patterns, operators and comments are ordinary characters.
 */
export function splitCommandLine(text: string): CommandWords {
  const words: string[] = []
  let word: string | undefined
  let pos = 0
  while (pos < text.length) {
    const char = text.charAt(pos)
    pos += 1
    if (char === ' ' || char === '\t' || char === '\n') {
      if (word !== undefined) words.push(word)
      word = undefined
    } else if (char === "'") {
      const end = text.indexOf("'", pos)
      if (end === -1) return { fault: `the ' at column ${pos} is not closed` }
      word = (word ?? '') + text.slice(pos, end)
      pos = end + 1
    } else if (char === '"') {
      const quoted = doubleQuoted(text, pos)
      if (!quoted) return { fault: `the " at column ${pos} is not closed` }
      word = (word ?? '') + quoted.text
      pos = quoted.end
    } else if (char === '\\') {
      if (pos === text.length) return { fault: 'the last character is a backslash' }
      const next = text.charAt(pos)
      // A backslash and a line break continue the line.
      if (next !== '\n') word = (word ?? '') + next
      pos += 1
    } else {
      word = (word ?? '') + char
    }
  }
  if (word !== undefined) words.push(word)
  return { words }
}

/** @param pos index after the opening quote; `end` is the index after the closing one */
function doubleQuoted(text: string, pos: number): { text: string; end: number } | undefined {
  let inner = ''
  for (let at = pos; at < text.length; at += 1) {
    const char = text.charAt(at)
    if (char === '"') return { text: inner, end: at + 1 }
    if (char !== '\\') {
      inner += char
      continue
    }
    at += 1
    const next = text.charAt(at)
    // Before any other character, the backslash is literal.
    if (next !== '\n') inner += '$`"\\'.includes(next) ? next : `\\${next}`
  }
  return undefined
}

/** A command line that `splitCommandLine`, and a POSIX shell, split into these words. */
export function joinCommandLine(words: readonly string[]): string {
  return words.map(quoteWord).join(' ')
}

function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** A command that can be started: a program and its arguments. */
export function isCommandLine(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((word) => typeof word === 'string') && Boolean(value[0])
}
