import { signal } from '@preact/signals'
import { remember, remembered } from '../shell/memory.js'

/** Columns that can be hidden. */
export const columns = ['time', 'content', 'id', 'status', 'latency', 'size', 'waterfall'] as const
export type Column = (typeof columns)[number]

/** Columns that can be resized. The content gets the remaining width: the message's edge resizes both. */
export const sizedColumns = ['time', 'name', 'id', 'status', 'latency', 'size', 'waterfall'] as const
export type SizedColumn = (typeof sizedColumns)[number]

export const narrowestPx = 36
export const widestPx = 600

export interface Layout {
  readonly hidden: readonly Column[]
  /** Pixels. */
  readonly widths: Readonly<Partial<Record<SizedColumn, number>>>
}

/** The columns of the list and their widths. The browser remembers both; the URL names hidden columns. */
export const layout = signal<Layout>(parseLayout(remembered('columns')))

/** The remembered layout, without invalid parts. */
function parseLayout(text: string | null): Layout {
  try {
    const { hidden, widths } = JSON.parse(text ?? '{}') as Partial<Layout>
    return {
      hidden: columns.filter((name) => Array.isArray(hidden) && hidden.includes(name)),
      widths: Object.fromEntries(
        sizedColumns.flatMap((name) => {
          const width = Number(widths?.[name])
          return width >= narrowestPx && width <= widestPx ? [[name, width]] : []
        }),
      ),
    }
  } catch {
    return { hidden: [], widths: {} }
  }
}

export function changeLayout(next: Layout): void {
  layout.value = next
  remember('columns', JSON.stringify(next))
}

export function isHidden(name: Column): boolean {
  return layout.value.hidden.includes(name)
}
