/**
 * Text from peers is hostile. What a terminal could take for a command, what turns the reading direction
 * around and what is invisible comes out as `\u{…}`; line breaks and tabs as `\n`, `\r`, `\t`.
 */
export function escapeText(text: string): string {
  return text.replace(unsafe, escapeChar)
}

/** As `escapeText`, but keeps line feeds and tabs, for text that is laid out in lines. */
export function escapeLines(text: string): string {
  return text.replace(unsafe, (char) => (char === '\n' || char === '\t' ? char : escapeChar(char)))
}

/**
 * C0 and C1 controls, DEL, soft hyphen, bidirectional controls, zero-width and other format characters, line
 * and paragraph separators, variation selectors of the tag block, lone surrogates.
 */
const unsafe = /[\p{Cc}\p{Cf}\u2028\u2029\u{e0000}-\u{e0fff}]|\p{Cs}/gu

const named: Readonly<Record<string, string>> = {
  '\n': String.raw`\n`,
  '\r': String.raw`\r`,
  '\t': String.raw`\t`,
}

function escapeChar(char: string): string {
  return named[char] ?? `\\u{${char.codePointAt(0)!.toString(16)}}`
}
