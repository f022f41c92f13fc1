const beyondAscii = /[^\u0000-\u007f]/

/** Size in UTF-8 of `text` from `start` to `end`, in bytes, without encoding it. */
export function utf8Length(text: string, start = 0, end = text.length): number {
  const part = start === 0 && end === text.length ? text : text.slice(start, end)
  if (!beyondAscii.test(part)) return part.length
  let bytes = part.length
  for (let i = 0; i < part.length; i += 1) {
    const code = part.charCodeAt(i)
    // A surrogate pair is two units and four bytes.
    if (code > 0x7f) bytes += code > 0x7ff && (code < 0xd800 || code > 0xdfff) ? 2 : 1
  }
  return bytes
}
