/** Secrets in cells of tables, in lines without a separator, and in Kubernetes manifests. Each line is read once. */
import type { Finding } from './finding.js'
import { isLiteralSecret, isPlaceholder, looksLikeCredentials, looksMade } from './secret-looks.js'
import { judgeName } from './secret-names.js'

const mostColumns = 64
const longestRow = 4096

interface Cell {
  readonly start: number
  readonly end: number
}

/** Information from previous lines about this one. */
interface Header {
  readonly separator: string
  readonly columns: number
  /** By column: the term of a secret name, if the column has one. */
  readonly terms: readonly (string | undefined)[]
}

const phrase =
  /^\s{0,32}(?:(?:Step \d{1,3}\/\d{1,3} : |#\d{1,4} )?(?:\[[^\]\n]{1,40}\] )?(?:ENV|ARG)|setx|set\s{1,8}-\w{1,4}|Set-Item\s{1,8}Env:|login\s{1,8}\S{1,128}\s{1,64}|machine\s{1,8}\S{1,256}\s{1,64}login\s{1,8}\S{1,128}\s{1,64}|password)\s{0,8}/i

/** Adds secrets in the cell below or beside their name, or after the name and a blank. */
export function findInLines(text: string, until: number, broad: boolean, found: Finding[]): void {
  let header: Header | undefined
  let manifest = -1
  const isManifest = /kind\\?"?\s{0,4}:\s{0,4}\\?"?Secret\b/.test(text)
  let start = 0
  // The rows of a table continue below.
  while (start < until || (header !== undefined && start < text.length)) {
    const feed = text.indexOf('\n', start)
    const end = feed < 0 ? text.length : feed
    const line = text.slice(start, Math.min(end, start + longestRow))
    if (isManifest) manifest = readManifest(line, start, manifest, found)
    header = readRow(line, start, header, found)
    const isPhrase = phrase.test(line)
    if (isPhrase || broad) readPhrase(line, start, isPhrase, found)
    readPair(text, line, end, found)
    start = end + 1
  }
}

/** Cells of Markdown (`| a | b |`), or of CSV with one of three separators. */
function cellsOf(line: string, separator: string): Cell[] {
  const cells: Cell[] = []
  let from = 0
  while (from <= line.length && cells.length < mostColumns) {
    const quoted = separator !== '|' && line[from] === '"' ? line.indexOf(`"${separator}`, from + 1) : -1
    const at = line.indexOf(separator, quoted < 0 ? from : quoted)
    const to = at < 0 ? line.length : at
    cells.push(trimmed(line, from, to))
    from = to + 1
  }
  if (separator !== '|') return cells
  // Text before the first and after the last bar is not a cell.
  return cells.slice(1, line.trimEnd().endsWith('|') ? -1 : undefined)
}

function trimmed(line: string, from: number, to: number): Cell {
  let [start, end] = [from, to]
  while (start < end && /[\s"'`]/.test(line[start]!)) start++
  while (end > start && /[\s"'`\r]/.test(line[end - 1]!)) end--
  return { start, end }
}

function readRow(line: string, at: number, header: Header | undefined, found: Finding[]): Header | undefined {
  if (header !== undefined) {
    const cells = cellsOf(line, header.separator)
    if (cells.length !== header.columns) return headerOf(line)
    for (const [i, { start, end }] of cells.entries()) {
      const term = header.terms[i]
      const value = line.slice(start, end)
      if (term === undefined || /^:?-+:?$/.test(value) || !isLiteralSecret(value, true)) continue
      found.push({ start: at + start, end: at + end, rule: `key:${term}` })
    }
    if (header.separator !== '|') return header
  }
  if (!line.trimStart().startsWith('|')) return headerOf(line)
  const [first, second, ...rest] = cellsOf(line, '|')
  if (first !== undefined && second !== undefined && rest.length === 0) {
    const verdict = judgeName(line.slice(first.start, first.end))
    const value = line.slice(second.start, second.end)
    if (verdict?.needs === 'any' && isLiteralSecret(value, true))
      found.push({ start: at + second.start, end: at + second.end, rule: `key:${verdict.term}` })
  }
  return header ?? headerOf(line)
}

function headerOf(line: string): Header | undefined {
  const first = line.charCodeAt(0)
  // Prose begins with two words.
  if (first !== 0x7c && !/^\s{0,8}(?:\||"?[\w.-]{1,64}"?\s?[,;\t])/.test(line)) return undefined
  const separator = line.trimStart().startsWith('|') ? '|' : [',', ';', '\t'].find((it) => line.includes(it))
  if (separator === undefined || line.length > 1024) return undefined
  const cells = cellsOf(line, separator).map(({ start, end }) => line.slice(start, end))
  if (cells.length < 2 || cells.some((cell) => !/^[\w .-]{0,64}$/.test(cell))) return undefined
  const terms = cells.map((cell) => {
    const verdict = judgeName(cell)
    return verdict?.needs === 'any' ? verdict.term : undefined
  })
  return terms.some((term) => term !== undefined) ? { separator, columns: cells.length, terms } : undefined
}

const named =
  /(?:^|[\s:])([A-Za-z_][\w.-]{0,127})\s{1,16}(?:"([^"]{1,512})"|'([^']{1,512})'|([^\s"'=:]{1,512}))/g

/** `ENV API_KEY x`, `setx TOKEN "x"`, `machine h login me password x`; else only machine-made values after a name. */
function readPhrase(line: string, at: number, isPhrase: boolean, found: Finding[]): void {
  named.lastIndex = 0
  const looksSecret = isPhrase ? (value: string) => looksLikeCredentials(value, true) : looksMade
  for (let match = named.exec(line); match !== null; match = named.exec(line)) {
    const [whole, name = '', double, single, bare] = match
    const value = double ?? single ?? bare ?? ''
    const verdict = judgeName(name)
    if (verdict === undefined || isPlaceholder(value) || !looksSecret(value)) {
      // The value may be the next name.
      if (bare !== undefined) named.lastIndex = match.index + whole.length - bare.length - 1
      continue
    }
    const end = match.index + whole.length - (bare === undefined ? 1 : 0)
    found.push({ start: at + end - value.length, end: at + end, rule: `key:${verdict.term}` })
  }
}

const nameLine = /^\s{0,64}(?:-\s{1,8})?(?:name|key)\s{0,4}[:=]\s{0,4}["']?([\w.-]{1,128})["']?,?\r?$/i
const valueLine = /^(\s{0,64}value\s{0,4}[:=]\s{0,4}["']?)([^\s"'].{0,2000}?)["']?,?\r?$/i

/** `name: DB_PASSWORD` with `value: x` in the next line. */
function readPair(text: string, line: string, end: number, found: Finding[]): void {
  const name = line.length > 256 ? undefined : nameLine.exec(line)?.[1]
  const verdict = name === undefined ? undefined : judgeName(name)
  if (verdict === undefined) return
  const feed = text.indexOf('\n', end + 1)
  const next = text.slice(end + 1, Math.min(feed < 0 ? text.length : feed, end + 1 + 2100))
  const [, before = '', value = ''] = valueLine.exec(next) ?? []
  if (value === '' || isPlaceholder(value)) return
  const start = end + 1 + before.length
  found.push({ start, end: start + value.length, rule: `key:${verdict.term}` })
}

const entry = /^(\s*)(?:"?)([\w.-]{1,253})"?\s{0,4}:\s{0,4}["']?([^\s"']+)/

/** Values below `data:` and `stringData:` of a Secret. `inside` is the indentation of that line, -1 outside. */
function readManifest(line: string, at: number, inside: number, found: Finding[]): number {
  const indent = line.length - line.trimStart().length
  if (/^\s*(?:data|stringData):\s*$/.test(line)) return indent
  if (inside < 0 || line.trim() === '') return inside
  if (indent <= inside) return -1
  const [whole = '', , , value = ''] = entry.exec(line) ?? []
  if (value.length > 1 && value !== '|' && value !== '>')
    found.push({ start: at + whole.length - value.length, end: at + whole.length, rule: 'kubernetes-secret' })
  else if (!whole && indent > inside)
    found.push({ start: at + indent, end: at + line.trimEnd().length, rule: 'kubernetes-secret' })
  return inside
}
