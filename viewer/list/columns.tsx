import { useRef, useState } from 'preact/hooks'
import {
  changeLayout,
  columns,
  isHidden,
  layout,
  narrowestPx,
  sizedColumns,
  widestPx,
  type Column,
  type SizedColumn,
} from '../store/columns.js'
import { order, type SortKey } from '../store/state.js'
import { isSmall } from '../shell/small.js'
import { useMenu } from '../shell/use-menu.js'

/** Column widths chosen by the user, for the style sheet. @param time width needed by the times */
export function layoutStyle(time: string | undefined): Record<string, string | undefined> {
  const { widths } = layout.value
  const style: Record<string, string | undefined> = { '--time': time }
  for (const name of sizedColumns) {
    const variable = name === 'time' ? '--time' : `--w-${name}`
    if (name !== 'name' && isHidden(name)) style[variable] = '0px'
    else if (widths[name] !== undefined) style[variable] = `${widths[name]}px`
  }
  return style
}

/** Classes of the list for hidden columns. */
export function layoutClasses(): string {
  return layout.value.hidden.map((name) => `no-${name}`).join(' ')
}

const sortable: Readonly<Partial<Record<Column | 'name', SortKey>>> = {
  time: 'time',
  name: 'name',
  content: 'content',
  status: 'status',
  latency: 'latency',
  size: 'size',
}

/** Column headers: a click sorts, dragging an edge resizes. */
export function Head() {
  const { open, setOpen, closing } = useMenu()
  return (
    <div class="row head" role="group" aria-label="Columns">
      <span class="cell lane" />
      <HeadCell name="time" />
      <span class="cell fold" />
      <span class="cell dir" />
      <HeadCell name="name" />
      {(['content', 'id', 'status', 'latency', 'size', 'waterfall'] as const).map((name) => (
        <HeadCell key={name} name={name} />
      ))}
      <span class="menu columns-menu" {...closing}>
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

/** Rows of a phone have no place for them. */
const wideOnly: ReadonlySet<Column> = new Set(['id', 'waterfall'])

/** Sorting and columns on a phone, where the list has no headers. */
export function PhoneColumns() {
  const { key, down } = order.value
  return (
    <div class="phone-columns">
      <label>
        Sort by{' '}
        <select
          value={key}
          onChange={({ currentTarget }) => (order.value = firstOrder(currentTarget.value as SortKey))}
        >
          {Object.entries(sortable).map(([name, by]) => (
            <option key={by} value={by}>
              {name === 'name' ? 'message' : name}
            </option>
          ))}
        </select>
      </label>
      <button
        type="button"
        class="button"
        aria-pressed={down}
        onClick={() => (order.value = { key, down: !down })}
      >
        {down ? 'Descending ↓' : 'Ascending ↑'}
      </button>
      <Chooser />
    </div>
  )
}

function Chooser() {
  const { hidden, widths } = layout.value
  const offered = isSmall.value ? columns.filter((name) => !wideOnly.has(name)) : columns
  return (
    <div class="menu-list" role="group" aria-label="Choose columns" tabIndex={-1}>
      {offered.map((name) => (
        <label key={name}>
          <input
            type="checkbox"
            checked={!hidden.includes(name)}
            onChange={({ currentTarget: { checked } }) =>
              changeLayout({
                hidden: checked ? hidden.filter((one) => one !== name) : [...hidden, name],
                widths,
              })
            }
          />{' '}
          {name}
        </label>
      ))}
      <button type="button" onClick={() => changeLayout({ hidden: [], widths: {} })}>
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
      {name !== 'content' && !(name === 'name' && isHidden('content')) && <Edge name={name} />}
    </span>
  )
}

/** Largest first, then smallest first, then by time again. */
function nextOrder(key: SortKey): typeof order.value {
  const { key: now, down } = order.value
  const first = firstOrder(key).down
  if (now !== key) return { key, down: first || key === 'time' }
  if (down === first && key !== 'time') return { key, down: !first }
  return key === 'time' ? { key, down: !down } : { key: 'time', down: false }
}

/** Numbers begin with the largest. */
function firstOrder(key: SortKey): typeof order.value {
  return { key, down: key !== 'time' && key !== 'name' && key !== 'content' }
}

/** Pixels per arrow key when an edge is moved. */
const keyStep = 8

/** Sets the width of a column; undefined restores the default. */
function resize(name: SizedColumn, width: number | undefined): void {
  const { hidden, widths } = layout.value
  const { [name]: _, ...others } = widths
  const next =
    width === undefined ? {} : { [name]: Math.max(narrowestPx, Math.min(widestPx, Math.round(width))) }
  changeLayout({ hidden, widths: { ...others, ...next } })
}

/**
 * Dragging or the arrow keys change the width of the column; a double click or Enter restores the default.
 */
function Edge({ name }: { readonly name: SizedColumn }) {
  const from = useRef<{ readonly x: number; readonly width: number } | undefined>(undefined)
  const [now, setNow] = useState(0)
  // Columns left of the content grow to the right, the others to the left.
  const side = name === 'time' || name === 'name' ? 1 : -1
  const widthOf = (edge: HTMLElement): number => edge.parentElement!.offsetWidth
  return (
    <i
      class={`edge ${side > 0 ? 'right' : 'left'}`}
      role="separator"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={`Width of the ${name} column`}
      aria-valuenow={Math.max(narrowestPx, layout.value.widths[name] ?? now)}
      aria-valuemin={narrowestPx}
      aria-valuemax={widestPx}
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
