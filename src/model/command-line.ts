/** A command line cut into words, or why it cannot be. */
export type CommandWords = { readonly words: string[] } | { readonly fault: string }

/**
 * Cuts a command line as a POSIX shell does (XCU 2.2 Quoting), without a shell: quotes and backslashes count;
 * variables, patterns, operators and comments are ordinary characters.
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
      if (pos === text.length) return { fault: 'it ends with a backslash' }
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

/** @param pos after the opening quote. `end` is after the closing one. */
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
    // Before anything else the backslash stands for itself.
    if (next !== '\n') inner += '$`"\\'.includes(next) ? next : `\\${next}`
  }
  return undefined
}

/** A command line that `splitCommandLine`, and a POSIX shell, cut into these words. */
export function joinCommandLine(words: readonly string[]): string {
  return words.map(quoteWord).join(' ')
}

function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** What can be started: a program and its arguments. */
export function isCommandLine(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((word) => typeof word === 'string') && Boolean(value[0])
}
