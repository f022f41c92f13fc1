/**
 * Built-in patterns of mcp-tape with look-around, which RE2 lacks, rewritten to redact at least the same. People copy
 * them into their own `redact.json`.
 */
const withoutLookAround: ReadonlyMap<string, string> = new Map([
  ['(?<=://[^/\\s:@]{1,128}:)[^/\\s@]+(?=@)', '://[^/\\s:@]{1,128}:[^/\\s@]{1,500}@'],
  [
    '(?<![^\\s"])[^\\s"]*\\.env(?:\\.[A-Za-z0-9._\\-]+)?\\b',
    '[^\\s"]{0,500}\\.env(?:\\.[A-Za-z0-9._\\-]{1,100})?\\b',
  ],
  [
    '(?<![^\\s"])[^\\s"]*\\bid_(?:rsa|ed25519|ecdsa|dsa)\\b[^\\s"]*',
    '[^\\s"]{0,500}\\bid_(?:rsa|ed25519|ecdsa|dsa)\\b[^\\s"]{0,500}',
  ],
])

/** An mcp-tape pattern for RE2. Patterns that RE2 rejects either way are reported where they are compiled. */
export function patternOfMcpTape(pattern: string): string {
  return withoutLookAround.get(pattern) ?? pattern
}

/** An mcp-tape path, with unquoted names, in the form of RFC 9535: `$..customer-id` becomes `$..['customer-id']`. */
export function pathOfMcpTape(path: string): string {
  return path.replaceAll(/(\.\.?)([^.[\]*]+)/g, (whole, dots: string, name: string) => {
    if (/^[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*$/.test(name)) return whole
    const quoted = `['${name.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}']`
    return dots === '..' ? `..${quoted}` : quoted
  })
}
