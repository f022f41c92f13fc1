import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { useSize } from '../shell/use-size.js'

/** Browsers limit an element's height to 16 to 33 million pixels; above this, the scroll bar is scaled. */
const tallest = 8_000_000
/** Rows drawn above and below the visible ones. */
const spare = 4

export interface ScrollerHandle {
  /** Scrolls as little as needed to show the row. */
  reveal(index: number, where?: 'nearest' | 'center'): void
  toEnd(): void
  pageRows(): number
}

interface Props {
  readonly count: number
  readonly rowHeight: number
  readonly label: string
  readonly class?: string
  readonly columns: number
  readonly active?: string | undefined
  readonly handle?: { current: ScrollerHandle | null }
  readonly row: (index: number, style: { transform: string }, key: number) => ComponentChildren
  readonly onUserScroll?: () => void
}

/**
 * A list of any length: only visible rows are in the page. The rows are in a layer that stays in view while
 * the browser scrolls, so there is never a blank frame; beyond eight million pixels the scroll bar is scaled.
 */
export function Scroller(props: Props) {
  const { count, rowHeight } = props
  const box = useRef<HTMLDivElement>(null)
  const top = useSignal(0)
  const height = useSize(box, 'clientHeight', 600)
  /** Scroll position set by this code. */
  const expected = useRef(0)

  const full = count * rowHeight
  const space = Math.min(full, tallest)
  const highest = Math.max(0, full - height.value)
  const at = Math.min(top.value, highest)

  function moveTo(wanted: number): void {
    const element = box.current
    if (!element) return
    const next = Math.max(0, Math.min(highest, wanted))
    top.value = next
    const real = Math.max(0, space - height.value)
    expected.current = highest === 0 ? 0 : (next / highest) * real
    element.scrollTop = expected.current
    expected.current = element.scrollTop
  }

  useEffect(() => {
    const element = box.current!
    const wheel = (event: WheelEvent): void => {
      props.onUserScroll?.()
      if (full <= tallest || event.ctrlKey) return
      event.preventDefault()
      moveTo(top.peek() + event.deltaY * (event.deltaMode === 1 ? rowHeight : 1))
    }
    element.addEventListener('wheel', wheel, { passive: false })
    return () => element.removeEventListener('wheel', wheel)
  })

  if (props.handle) {
    props.handle.current = {
      reveal(index, where = 'nearest') {
        const start = index * rowHeight
        const now = Math.min(top.peek(), highest)
        if (start >= now && start + rowHeight <= now + height.peek()) return
        if (where === 'center') moveTo(start - height.peek() / 2 + rowHeight)
        else moveTo(start < now ? start : start + rowHeight - height.peek())
      },
      toEnd: () => moveTo(Infinity),
      pageRows: () => Math.max(1, Math.floor(height.peek() / rowHeight) - 1),
    }
  }

  function scrolled(): void {
    const element = box.current!
    if (Math.abs(element.scrollTop - expected.current) < 1) return
    expected.current = element.scrollTop
    const real = Math.max(1, space - height.value)
    top.value = full <= tallest ? element.scrollTop : (element.scrollTop / real) * highest
  }

  const layer = Math.min(height.value, full)
  return (
    <div
      class={`scroller ${props.class ?? ''}`}
      ref={box}
      onScroll={scrolled}
      onPointerDown={() => props.onUserScroll?.()}
      tabIndex={0}
      role="grid"
      aria-label={props.label}
      aria-rowcount={count}
      aria-colcount={props.columns}
      aria-activedescendant={props.active}
    >
      <div class="scroller-layer" role="rowgroup" style={{ height: `${layer}px` }}>
        {visibleRows(props, at, height.value)}
      </div>
      <div class="scroller-space" style={{ height: `${Math.max(0, space - layer)}px` }} />
    </div>
  )
}

/** The rows from a scroll position on, each in its slot. */
function visibleRows({ count, rowHeight, row }: Props, at: number, height: number): ComponentChildren[] {
  const first = Math.max(0, Math.floor(at / rowHeight) - spare)
  const last = Math.min(count, Math.ceil((at + height) / rowHeight) + spare)
  const slots = Math.ceil(height / rowHeight) + 2 * spare + 2
  // Rows stay in the order of their slots: Preact would move them with `moveBefore`, and Chromium 156 then
  // keeps the style of the row's former message. `aria-rowindex` gives their order.
  const rows = Array.from({ length: slots }, (): ComponentChildren => null)
  for (let index = first; index < last; index += 1) {
    const transform = `translateY(${Math.round(index * rowHeight - at)}px)`
    rows[index % slots] = row(index, { transform }, index % slots)
  }
  return rows
}
