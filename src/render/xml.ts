import { escapeLines } from './escape.js'

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Text for XML and attributes. XML 1.0 cannot represent most controls, lone surrogates and two others. */
export function escapeXml(text: string): string {
  return escapeLines(text)
    .replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replace(/[&<>"]/g, (char) => entities[char]!)
    .replaceAll('\n', '&#10;')
}
