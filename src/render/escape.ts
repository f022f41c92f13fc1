/**
 * Text from peers is hostile. Terminal commands, bidirectional controls and invisible characters become
 * `\u{…}`; line breaks and tabs become `\n`, `\r`, `\t`.
 */
export function escapeText(text: string): string {
  return text.replace(invisible, escapeChar)
}

/** As `escapeText`, but keeps line feeds and tabs, for text laid out in lines. */
export function escapeLines(text: string): string {
  return text.replace(invisible, (char) => (char === '\n' || char === '\t' ? char : escapeChar(char)))
}

/**
 * JSON text safe for a terminal: characters that `escapeText` would escape become `\uXXXX`. Apart from line
 * breaks between tokens, they occur only inside strings, so the value stays the same.
 */
export function escapeJson(text: string): string {
  return text.replace(invisible, (char) => {
    if (char === '\n' || char === '\r' || char === '\t') return char
    let escaped = ''
    for (let i = 0; i < char.length; i += 1) {
      escaped += `\\u${char.charCodeAt(i).toString(16).padStart(4, '0')}`
    }
    return escaped
  })
}

/**
 * C0 and C1 controls, DEL, soft hyphen, bidirectional controls, zero-width and other format characters,
 * invisible fillers, line and paragraph separators, the tag block, lone surrogates. Includes the joiner
 * between two emoji and between letters of some scripts: names that need it stay legible.
 */
export const invisible =
  /[\p{Cc}\p{Cf}\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\u2028\u2029\u{e0000}-\u{e0fff}]|\p{Cs}/gu

const named: Readonly<Record<string, string>> = {
  '\n': String.raw`\n`,
  '\r': String.raw`\r`,
  '\t': String.raw`\t`,
}

function escapeChar(char: string): string {
  return named[char] ?? `\\u{${char.codePointAt(0)!.toString(16)}}`
}
