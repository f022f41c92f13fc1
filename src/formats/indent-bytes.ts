/** The target is too short. */
export const noRoom = -1
/** The text has white space between its tokens. */
export const isSpaced = -2

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BACKSLASH = 0x5c
const SPACE = 0x20
const LF = 0x0a
/** The engine copies longer runs of bytes faster. */
const longRun = 64

/**
 * Indents a checked JSON text by two spaces per level, so that removing all white space between its tokens restores the
 * text exactly. Empty objects and arrays stay on one line.
 *
 * @param at start in `target`
 * @param level of the line on which it begins
 * @returns end in `target`, or `noRoom` or `isSpaced`: the output is then invalid
 */
export function indentInto(json: Uint8Array, target: Uint8Array, at: number, level: number): number {
  const room = target.length
  let depth = level
  let to = at
  for (let from = 0; from < json.length; from += 1) {
    const code = json[from]!
    if (code === QUOTE) {
      const end = stringEnd(json, from)
      if (to + end - from > room) return noRoom
      if (end - from < longRun) while (from < end) target[to++] = json[from++]!
      else {
        target.set(json.subarray(from, end), to)
        to += end - from
      }
      from = end - 1
      continue
    }
    if (code <= SPACE) return isSpaced
    // Room for a bracket and a line break before or after it.
    if (to + 2 * depth + 4 > room) return noRoom
    const isOpening = (code & 0xdf) === 0x5b
    const isClosing = (code & 0xdf) === 0x5d
    if (isClosing) {
      depth -= 1
      to = breakLine(target, to, depth)
    }
    target[to++] = code
    if (isOpening) {
      const next = json[from + 1]!
      if ((next & 0xdf) === 0x5d) {
        target[to++] = next
        from += 1
      } else {
        depth += 1
        to = breakLine(target, to, depth)
      }
    } else if (code === COMMA) to = breakLine(target, to, depth)
    else if (code === COLON) target[to++] = SPACE
  }
  return to
}

/** Index after the closing quote. */
function stringEnd(json: Uint8Array, start: number): number {
  const near = start + longRun
  let at = start + 1
  while (at < near && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1
  if (at < near) return at + 1
  for (;;) {
    at = json.indexOf(QUOTE, at)
    if (at < 0) return json.length
    let before = at
    while (json[before - 1] === BACKSLASH) before -= 1
    if ((at - before) % 2 === 0) return at + 1
    at += 1
  }
}

function breakLine(target: Uint8Array, at: number, depth: number): number {
  const end = at + 1 + 2 * depth
  target[at] = LF
  for (let to = at + 1; to < end; to += 1) target[to] = SPACE
  return end
}
