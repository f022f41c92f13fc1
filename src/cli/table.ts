import { pad, widthOf, type Style } from '../render/index.js'
import { maxOf } from './extremes.js'

/** One column of a table; its texts are escaped. */
export interface TableColumn {
  readonly name: string
  /** One per row. */
  readonly texts: readonly string[]
  /** Padded side: left for numbers. */
  readonly side: 'left' | 'right'
  readonly tone?: (cell: string, row: number) => string
  /** On a narrow terminal, the lowest numbers are dropped first; a column without a number stays. */
  readonly keep?: number
}

const gap = '  '

/** Lines of a table, with line feeds. The last column is never truncated or padded. */
export function tableText(
  columns: readonly TableColumn[],
  { style, columns: cells = Infinity }: { readonly style: Style; readonly columns: number | undefined },
): string {
  let shown = columns.map((column) => ({
    ...column,
    width: maxOf(column.texts.map(widthOf), column.name.length),
  }))
  const width = (): number => shown.reduce((sum, column) => sum + column.width + gap.length, -gap.length)
  while (width() > cells) {
    const least = shown.filter(({ keep }) => keep !== undefined).toSorted((a, b) => a.keep! - b.keep!)[0]
    if (!least) break
    shown = shown.filter((column) => column !== least)
  }
  const line = (texts: readonly string[], tone: (i: number, cell: string) => string): string =>
    shown
      .map((column, i) => tone(i, filled(texts[i]!, column.width, column.side, i === shown.length - 1)))
      .join(gap)
  const head = style.dim(
    line(
      shown.map(({ name }) => name),
      (_, cell) => cell,
    ).trimEnd(),
  )
  const rows = (columns[0]?.texts ?? []).map((_, row) =>
    line(
      shown.map(({ texts }) => texts[row]!),
      (i, cell) => shown[i]!.tone?.(cell, row) ?? cell,
    ),
  )
  return [head, ...rows].map((text) => `${text}\n`).join('')
}

function filled(text: string, width: number, side: 'left' | 'right', isLast: boolean): string {
  return isLast && side === 'right' ? text : pad(text, width, side)
}
