import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { formatDuration } from '../../src/render/index.js'
import { headOf } from '../store/exchange.js'
import { select } from '../store/actions.js'
import { filterMatches, lane, lanes, origin, range, selected, table, version } from '../store/state.js'
import { inSlices } from '../store/sliced.js'
import { laneName } from '../store/lane-name.js'
import { clean } from '../shell/clean.js'
import { isDark } from '../shell/theme.js'
import { axisHeight, draw, laneHeightFor, lowerBound, type Inks } from './draw.js'

/** The visible time range; undefined for all of it. */
type Window = readonly [from: number, to: number] | undefined

const leastUs = 50

/** One lane per server over time: a drag filters by a range, the wheel zooms, a click selects. */
export function Timeline() {
  version.value
  const canvas = useRef<HTMLCanvasElement>(null)
  const width = useSignal(800)
  const window = useSignal<Window>(undefined)
  const brush = useSignal<readonly [number, number] | undefined>(undefined)
  const onlyLane = lane.value
  const visible = lanes.value.filter(
    (one) => one && (onlyLane === 'all' || one.index === onlyLane) && one.state !== 'failed',
  )
  const laneHeight = laneHeightFor(visible.length)
  const height = axisHeight + Math.max(1, visible.length) * laneHeight
  const { order } = table
  // Rows without a time come first.
  const timed = lowerBound(order, 1)
  const isShown = (row: number): boolean => onlyLane === 'all' || table.lane(row) === onlyLane
  // A lane shown alone has its own time range.
  let first = timed
  while (first < order.length && !isShown(order[first]!)) first += 1
  let last = order.length - 1
  while (last > first && !isShown(order[last]!)) last -= 1
  const begin = first === order.length ? 0 : Math.min(origin.value, table.at(order[first]!))
  const end = first === order.length ? 1 : table.at(order[last]!)
  const pad = Math.max(1, (end - begin) * 0.01)
  const [from, to] = window.value ?? [begin - pad * 0.2, end + pad]
  const matches = filterMatches.value
  /** A bar represents an exchange, which is shown if one of its messages matches. */
  const passes = (row: number): boolean => {
    if (!matches || matches.has(row) || matches.has(headOf(row))) return true
    const answer = table.kind(row) === 'request' ? table.peer(row) : -1
    return answer >= 0 && matches.has(answer)
  }

  useEffect(() => {
    window.value = undefined
  }, [onlyLane])

  useLayoutEffect(() => {
    const element = canvas.current!
    const resized = new ResizeObserver(() => {
      width.value = element.clientWidth
    })
    resized.observe(element)
    width.value = element.clientWidth
    return () => resized.disconnect()
  }, [])

  useEffect(() => {
    const element = canvas.current!
    const steps = draw(element, {
      width: width.value,
      height,
      from,
      to,
      origin: origin.value,
      isEmpty: timed === order.length,
      lanes: visible.map(({ index }) => index),
      laneHeight,
      inks: inksOf(element),
      shown: passes,
    })
    // A short recording is drawn within this frame.
    return steps.next().done ? undefined : inSlices(steps, () => undefined)
    // The theme is a dependency: colours come from the style sheet.
  }, [
    version.value,
    from,
    to,
    width.value,
    height,
    matches,
    isDark.value,
    visible.map(({ index }) => index).join(),
  ])

  useEffect(() => {
    const element = canvas.current!
    const wheel = (event: WheelEvent): void => {
      event.preventDefault()
      const at = timeAt(event)
      const span = to - from
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        const by = ((event.deltaX || event.deltaY) / width.peek()) * span
        window.value = [from + by, to + by]
        return
      }
      const factor = Math.exp(event.deltaY * 0.002)
      const next = [at - (at - from) * factor, at + (to - at) * factor] as const
      if (next[1] - next[0] < leastUs) return
      window.value = next[0] <= begin - pad && next[1] >= end + pad ? undefined : next
    }
    element.addEventListener('wheel', wheel, { passive: false })
    return () => element.removeEventListener('wheel', wheel)
  })

  const timeAt = (event: MouseEvent): number => {
    const box = canvas.current!.getBoundingClientRect()
    return from + ((event.clientX - box.left) / box.width) * (to - from)
  }
  const place = (at: number): string => `${Math.max(0, Math.min(100, ((at - from) / (to - from)) * 100))}%`
  const marked = brush.value ?? range.value

  function pressed(event: PointerEvent): void {
    if (event.button !== 0) return
    const start = timeAt(event)
    const startX = event.clientX
    canvas.current!.setPointerCapture(event.pointerId)
    const move = (moved: PointerEvent): void => {
      if (Math.abs(moved.clientX - startX) < 4 && !brush.value) return
      const at = timeAt(moved)
      brush.value = [Math.min(start, at), Math.max(start, at)]
    }
    const done = (): void => {
      canvas.current?.removeEventListener('pointermove', move)
      canvas.current?.removeEventListener('pointerup', done)
      canvas.current?.removeEventListener('pointercancel', done)
      if (brush.value) range.value = brush.value
      else if (range.value) range.value = undefined
      else chooseAt(event, start)
      brush.value = undefined
    }
    canvas.current!.addEventListener('pointermove', move)
    canvas.current!.addEventListener('pointerup', done)
    canvas.current!.addEventListener('pointercancel', done)
  }

  /** Selects the exchange nearest to a click, on its lane. */
  function chooseAt(event: PointerEvent, at: number): void {
    const box = canvas.current!.getBoundingClientRect()
    const which = visible[Math.floor((event.clientY - box.top - axisHeight) / laneHeight)]
    const slack = ((to - from) / box.width) * 6
    const first = lowerBound(order, at - 60e6)
    let best = -1
    let distance = slack
    for (let i = first; i < order.length; i += 1) {
      const row = order[i]!
      if (table.at(row) > at + slack) break
      if ((which && table.lane(row) !== which.index) || !passes(row)) continue
      const answer = table.kind(row) === 'request' ? table.peer(row) : -1
      const rowEnd = answer >= 0 ? table.at(answer) : table.at(row)
      const away = at < table.at(row) ? table.at(row) - at : Math.max(0, at - rowEnd)
      if (away <= distance) [best, distance] = [row, away]
    }
    if (best >= 0) select(headOf(best))
  }

  return (
    <section class="timeline" aria-label="Timeline">
      <div class="timeline-names" aria-hidden="true" style={{ paddingTop: `${axisHeight}px` }}>
        {visible.map((one) => (
          <span key={one.index} style={{ height: `${laneHeight}px` }}>
            <i class={`swatch lane-${one.index % 8}`} />
            <span class="lane-label">{clean(laneName(one))}</span>
          </span>
        ))}
      </div>
      <div class="timeline-box">
        <canvas
          ref={canvas}
          style={{ height: `${height}px` }}
          onPointerDown={pressed}
          onDblClick={() => {
            window.value = undefined
            range.value = undefined
          }}
          role="img"
          aria-label={`${table.length} messages${timed === order.length ? '' : ` over ${formatDuration(end - begin)}`}. Drag to select a time range, scroll to zoom, double-click to reset.`}
        />
        {selected.value >= 0 && selected.value < table.length && (
          <div
            class="needle"
            hidden={table.at(selected.value) < from || table.at(selected.value) > to}
            style={{ left: place(table.at(selected.value)) }}
          />
        )}
        {marked && (
          <>
            <div class="shade" style={{ left: 0, width: place(marked[0]) }} />
            <div class="shade" style={{ left: place(marked[1]), right: 0 }} />
            <div
              class="brush"
              style={{ left: place(marked[0]), width: `calc(${place(marked[1])} - ${place(marked[0])})` }}
            >
              <span>{formatDuration(marked[1] - marked[0])}</span>
            </div>
          </>
        )}
      </div>
      {order.length > 0 && timed === order.length && (
        <p class="timeline-nothing">This recording has no timestamps.</p>
      )}
      {window.value && (
        <button type="button" class="button small timeline-all" onClick={() => (window.value = undefined)}>
          all
        </button>
      )}
    </section>
  )
}

function inksOf(element: Element): Inks {
  const style = getComputedStyle(element)
  const ink = (name: string): string => style.getPropertyValue(name).trim()
  return {
    lanes: [0, 1, 2, 3, 4, 5, 6, 7].map((i) => ink(`--lane-${i}`)),
    bad: ink('--bad'),
    line: ink('--line'),
    text: ink('--ink-3'),
    gap: ink('--changed'),
    note: ink('--accent'),
  }
}
