import { signal } from '@preact/signals'
import { useRef, useState } from 'preact/hooks'
import { remember, remembered } from '../shell/memory.js'
import { order, type SortKey } from '../store/state.js'

/** Columns that can be hidden and sized; the message has what is left. */
export const columns = ['time', 'id', 'status', 'latency', 'size', 'waterfall'] as const
export type Column = (typeof columns)[number]

const narrowest = 36
const widest = 600

interface Layout {
  readonly hidden: readonly Column[]
  /** Pixels. */
  readonly widths: Readonly<Partial<Record<Column, number>>>
}

export const layout = signal<Layout>(parseLayout(remembered('columns')))

/** What this browser remembers, as far as it is understood. */
function parseLayout(text: string | null): Layout {
  try {
    const { hidden, widths } = JSON.parse(text ?? '{}') as Partial<Layout>
    return {
      hidden: columns.filter((name) => Array.isArray(hidden) && hidden.includes(name)),
      widths: Object.fromEntries(
        columns.flatMap((name) => {
          const width = Number(widths?.[name])
          return width >= narrowest && width <= widest ? [[name, width]] : []
        }),
      ),
    }
  } catch {
    return { hidden: [], widths: {} }
  }
}

function change(next: Layout): void {
  layout.value = next
  remember('columns', JSON.stringify(next))
}

/** The widths that a person chose, for the style sheet. @param time what the times need */
export function layoutStyle(time: string | undefined): Record<string, string | undefined> {
  const { hidden, widths } = layout.value
  const style: Record<string, string | undefined> = { '--time': time }
  for (const name of columns) {
    const variable = name === 'time' ? '--time' : `--w-${name}`
    if (hidden.includes(name)) style[variable] = '0px'
    else if (widths[name] !== undefined) style[variable] = `${widths[name]}px`
  }
  return style
}

/** Classes of the list for the columns that are hidden. */
export function layoutClasses(): string {
  return layout.value.hidden.map((name) => `no-${name}`).join(' ')
}

const sortable: Readonly<Partial<Record<Column | 'name', SortKey>>> = {
  time: 'time',
  name: 'name',
  status: 'status',
  latency: 'latency',
  size: 'size',
}

/** Names of the columns: sorts by a click, sizes by dragging an edge. */
export function Head() {
  const [open, setOpen] = useState(false)
  return (
    <div class="row head" role="group" aria-label="Columns">
      <span class="cell lane" />
      <HeadCell name="time" />
      <span class="cell fold" />
      <span class="cell dir" />
      <HeadCell name="name" />
      {(['id', 'status', 'latency', 'size', 'waterfall'] as const).map((name) => (
        <HeadCell key={name} name={name} />
      ))}
      <span
        class="menu columns-menu"
        onKeyDown={(event) => {
          if (event.key !== 'Escape' || !open) return
          event.stopPropagation()
          setOpen(false)
        }}
        onFocusOut={(event) => {
          if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOpen(false)
        }}
      >
        <button
          type="button"
          class="bare"
          aria-label="Choose columns"
          title="Choose columns"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        >
          ⋮
        </button>
        {open && <Chooser />}
      </span>
    </div>
  )
}

function Chooser() {
  const { hidden, widths } = layout.value
  return (
    <div class="menu-list" role="group" aria-label="Choose columns" tabIndex={-1}>
      {columns.map((name) => (
        <label key={name}>
          <input
            type="checkbox"
            checked={!hidden.includes(name)}
            onChange={({ currentTarget: { checked } }) =>
              change({ hidden: checked ? hidden.filter((one) => one !== name) : [...hidden, name], widths })
            }
          />{' '}
          {name}
        </label>
      ))}
      <button type="button" onClick={() => change({ hidden: [], widths: {} })}>
        Reset
      </button>
    </div>
  )
}

function HeadCell({ name }: { readonly name: Column | 'name' }) {
  const key = sortable[name]
  const isBy = key !== undefined && order.value.key === key
  const title = name === 'name' ? 'message' : name
  const arrow = isBy && (order.value.down || key !== 'time') ? (order.value.down ? ' ↓' : ' ↑') : ''
  return (
    <span class={`cell ${name}`}>
      {key === undefined ? (
        title
      ) : (
        <button
          type="button"
          class="bare sort"
          aria-pressed={isBy}
          title={`Sort by ${title}`}
          onClick={() => (order.value = nextOrder(key))}
        >
          {title}
          <span aria-hidden="true">{arrow}</span>
        </button>
      )}
      {name !== 'name' && <Edge name={name} />}
    </span>
  )
}

/** The largest first, then the smallest, then by time again. */
function nextOrder(key: SortKey): typeof order.value {
  const { key: now, down } = order.value
  const first = key !== 'time' && key !== 'name'
  if (now !== key) return { key, down: first || key === 'time' }
  if (down === first && key !== 'time') return { key, down: !first }
  return key === 'time' ? { key, down: !down } : { key: 'time', down: false }
}

/** Pixels that an arrow key moves an edge. */
const keyStep = 8

/** Gives a column a width; without one, its own. */
function resize(name: Column, width: number | undefined): void {
  const { hidden, widths } = layout.value
  const { [name]: _, ...others } = widths
  const next = width === undefined ? {} : { [name]: Math.max(narrowest, Math.min(widest, Math.round(width))) }
  change({ hidden, widths: { ...others, ...next } })
}

/**
 * Dragged, or moved by the arrow keys, it makes the column wider or narrower; a double click, or Enter, gives it its own width
 * back.
 */
function Edge({ name }: { readonly name: Column }) {
  const from = useRef<{ readonly x: number; readonly width: number } | undefined>(undefined)
  const [now, setNow] = useState(0)
  // What stands left of the message grows to the right, the others to the left.
  const side = name === 'time' ? 1 : -1
  const widthOf = (edge: HTMLElement): number => edge.parentElement!.offsetWidth
  return (
    <i
      class={`edge ${side > 0 ? 'right' : 'left'}`}
      role="separator"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={`Width of the column ${name}`}
      aria-valuenow={Math.max(narrowest, layout.value.widths[name] ?? now)}
      aria-valuemin={narrowest}
      aria-valuemax={widest}
      onFocus={({ currentTarget }) => setNow(widthOf(currentTarget))}
      onKeyDown={({ key, currentTarget }) => {
        if (key === 'ArrowRight') resize(name, widthOf(currentTarget) + side * keyStep)
        else if (key === 'ArrowLeft') resize(name, widthOf(currentTarget) - side * keyStep)
        else if (key === 'Enter') resize(name, undefined)
      }}
      onPointerDown={(event) => {
        event.preventDefault()
        event.currentTarget.setPointerCapture(event.pointerId)
        from.current = { x: event.clientX, width: widthOf(event.currentTarget) }
      }}
      onPointerMove={({ clientX }) => {
        if (from.current) resize(name, from.current.width + side * (clientX - from.current.x))
      }}
      onPointerUp={() => (from.current = undefined)}
      onDblClick={() => resize(name, undefined)}
    />
  )
}
