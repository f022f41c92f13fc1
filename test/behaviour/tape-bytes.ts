/** Checks the promise of a tape without wiretape's code: the bytes that passed can be rebuilt from it. */
import { readFileSync } from 'node:fs'

/** Parsed JSON; a test states its expectation by the members that it reads. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Line = Record<string, any>

/** The lines of a tape as parsed JSON. Throws when a line is not JSON, or the last one is torn. */
export function linesOfTape(path: string): Line[] {
  const text = readFileSync(path, 'utf8')
  if (!text.endsWith('\n')) throw new Error('the tape ends with half a line')
  return text
    .slice(0, -1)
    .split('\n')
    .map((line): Line => JSON.parse(line))
}

/** The lines of one type; message lines have none. */
export function linesOfType(path: string, type: string | undefined): Line[] {
  return linesOfTape(path).filter((line) => line['type'] === type)
}

const lineEnds: Readonly<Record<string, string>> = { lf: '\n', crlf: '\r\n', none: '' }

/** The bytes that passed on stdin, stdout or stderr, rebuilt from the tape. */
export function bytesOfTape(path: string, dir: 'in' | 'out' | 'err'): Buffer {
  const pieces: Buffer[] = []
  for (const text of readFileSync(path, 'utf8').split('\n')) {
    if (text === '') continue
    const line: Line = JSON.parse(text)
    const isMessage = line['type'] === undefined
    if (!isMessage && line['type'] !== 'noise' && line['type'] !== 'stderr') continue
    if ((line['type'] === 'stderr' ? 'err' : line['dir']) !== dir) continue
    if (line['bytes'] !== undefined) pieces.push(Buffer.from(line['bytes'], 'base64'))
    else pieces.push(Buffer.from(isMessage ? rawTextOf(text) : line['text']))
    pieces.push(Buffer.from(lineEnds[line['eol'] ?? 'lf']!))
  }
  return Buffer.concat(pieces)
}

/** The exact text of the value of `raw`, which parsing would not give back. */
export function rawTextOf(line: string): string {
  const head = /^\{"t":"[^"]*","dir":"(?:in|out)","raw":/.exec(line)
  if (!head) throw new Error(`not a message line: ${line.slice(0, 80)}`)
  let depth = 0
  for (let at = head[0].length; at < line.length; at += 1) {
    const char = line[at]!
    if (char === '"') at = endOfString(line, at)
    else if (char === '{' || char === '[') depth += 1
    else if (char === '}' || char === ']') depth -= 1
    if (depth === 0) return line.slice(head[0].length, at + 1)
  }
  throw new Error('raw does not end')
}

/** Index of the closing quote. */
function endOfString(line: string, open: number): number {
  for (let at = line.indexOf('"', open + 1); at !== -1; at = line.indexOf('"', at + 1)) {
    let backslashes = 0
    while (line[at - 1 - backslashes] === '\\') backslashes += 1
    if (backslashes % 2 === 0) return at
  }
  throw new Error('a string does not end')
}
