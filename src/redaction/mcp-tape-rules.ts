/**
 * Built-in patterns of mcp-tape that look around, which RE2 cannot, as patterns that take out at least the same. People
 * copy them into their own `redact.json`.
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

/** A pattern of mcp-tape as RE2 takes it. What is no pattern of RE2 either way is reported where it is compiled. */
export function patternOfMcpTape(pattern: string): string {
  return withoutLookAround.get(pattern) ?? pattern
}

/** A path of mcp-tape, in which names need no quotes, as RFC 9535 has it: `$..customer-id` is `$..['customer-id']`. */
export function pathOfMcpTape(path: string): string {
  return path.replaceAll(/(\.\.?)([^.[\]*]+)/g, (whole, dots: string, name: string) => {
    if (/^[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*$/.test(name)) return whole
    const quoted = `['${name.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}']`
    return dots === '..' ? `..${quoted}` : quoted
  })
}
