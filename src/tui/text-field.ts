import type { Key } from './keys.js'

/** Text being edited: lines, and the cursor (UTF-16 code units). */
export interface TextField {
  readonly lines: readonly string[]
  readonly row: number
  readonly column: number
  /** First line shown. */
  readonly top: number
}

export function fieldOf(text: string, at: 'start' | 'end' = 'end'): TextField {
  const lines = text.split(/\r\n|[\r\n]/)
  const row = at === 'start' ? 0 : lines.length - 1
  return { lines, row, column: at === 'start' ? 0 : lines[row]!.length, top: 0 }
}

export function fieldText(field: TextField): string {
  return field.lines.join('\n')
}

/** The field after a key; undefined if the key has no effect. `page`: lines shown. */
export function typeInto(field: TextField, key: Key, page = 1): TextField | undefined {
  const changed = edited(field, key) ?? moved(field, key, page)
  return changed && inView(changed, page)
}

/** Scrolls so that the cursor's line is shown. */
function inView(field: TextField, page: number): TextField {
  const top = Math.max(0, Math.min(field.top, field.row), field.row - page + 1)
  return top === field.top ? field : { ...field, top }
}

function edited(field: TextField, key: Key): TextField | undefined {
  const { lines, row, column } = field
  const line = lines[row]!
  switch (key.name) {
    case 'paste':
      return insert(field, key.text ?? '')
    case 'enter':
      return insert(field, '\n')
    case 'tab':
      return insert(field, '  ')
    case 'backspace':
      if (column > 0) return cut(field, row, before(line, column), row, column)
      return row > 0 ? cut(field, row - 1, lines[row - 1]!.length, row, 0) : field
    case 'delete':
    case 'ctrl+d':
      if (column < line.length) return cut(field, row, column, row, after(line, column))
      return row < lines.length - 1 ? cut(field, row, column, row + 1, 0) : field
    case 'ctrl+k':
      return cut(field, row, column, row, line.length)
    case 'ctrl+u':
      return cut(field, row, 0, row, column)
    default:
      return isText(key.name) ? insert(field, key.name) : undefined
  }
}

function moved(field: TextField, key: Key, page: number): TextField | undefined {
  const { lines, row, column } = field
  const line = lines[row]!
  const last = lines.length - 1
  const to = (newRow: number, newColumn: number): TextField => {
    const at = Math.max(0, Math.min(last, newRow))
    return { ...field, row: at, column: whole(lines[at]!, Math.min(newColumn, lines[at]!.length)) }
  }
  switch (key.name) {
    case 'up':
      return to(row - 1, column)
    case 'down':
      return to(row + 1, column)
    case 'pageup':
      return to(row - page, column)
    case 'pagedown':
      return to(row + page, column)
    case 'home':
    case 'ctrl+a':
      return to(row, 0)
    case 'end':
    case 'ctrl+e':
      return to(row, line.length)
    case 'left':
      if (column > 0) return to(row, before(line, column))
      return row > 0 ? to(row - 1, lines[row - 1]!.length) : field
    case 'right':
      if (column < line.length) return { ...field, column: after(line, column) }
      return row < last ? to(row + 1, 0) : field
    default:
      return undefined
  }
}

function insert(field: TextField, text: string): TextField {
  const { lines, row, column } = field
  const added = text.split(/\r\n|[\r\n]/)
  const line = lines[row]!
  const ends = line.slice(column)
  const first = line.slice(0, column) + added[0]!
  if (added.length === 1) {
    return { ...field, lines: lines.with(row, first + ends), column: first.length }
  }
  const lastAdded = added.at(-1)!
  const changed = [
    ...lines.slice(0, row),
    first,
    ...added.slice(1, -1),
    lastAdded + ends,
    ...lines.slice(row + 1),
  ]
  return { ...field, lines: changed, row: row + added.length - 1, column: lastAdded.length }
}

function cut(
  field: TextField,
  fromRow: number,
  fromColumn: number,
  toRow: number,
  toColumn: number,
): TextField {
  const { lines } = field
  const joined = lines[fromRow]!.slice(0, fromColumn) + lines[toRow]!.slice(toColumn)
  const changed = [...lines.slice(0, fromRow), joined, ...lines.slice(toRow + 1)]
  return { ...field, lines: changed, row: fromRow, column: fromColumn }
}

function isText(name: string): boolean {
  return name >= ' ' && name.length === String.fromCodePoint(name.codePointAt(0)!).length
}

/** Surrogate pairs stay whole. */
function before(line: string, column: number): number {
  return whole(line, column - 1)
}

function after(line: string, column: number): number {
  return column + (line.codePointAt(column)! > 0xffff ? 2 : 1)
}

function whole(line: string, column: number): number {
  const code = line.charCodeAt(column)
  const inside = column > 0 && code >= 0xdc00 && code <= 0xdfff
  return inside && line.codePointAt(column - 1)! > 0xffff ? column - 1 : column
}
