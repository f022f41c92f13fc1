import { useSignal, type Signal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { formatDuration } from '../../src/render/index.js'
import { headOf } from '../store/exchange.js'
import { select } from '../store/actions.js'
import {
  filterMatches,
  lane,
  lanes,
  origin,
  range,
  selected,
  table,
  version,
  type Matches,
} from '../store/state.js'
import { inSlices } from '../store/sliced.js'
import { laneName } from '../store/lane-name.js'
import { clean } from '../shell/clean.js'
import { isDark } from '../shell/theme.js'
import { useSize } from '../shell/use-size.js'
import { axisHeight, draw, laneHeightFor, lowerBound, type Inks } from './draw.js'

type Range = readonly [from: number, to: number]

const leastUs = 50

/** One lane per server over time: a drag filters by a range, the wheel zooms, a click selects. */
export function Timeline() {
  version.value
  const canvas = useRef<HTMLCanvasElement>(null)
  const width = useSize(canvas, 'clientWidth', 800).value
  /** The visible time range; undefined for all of it. */
  const window = useSignal<Range | undefined>(undefined)
  const brush = useSignal<Range | undefined>(undefined)
  const onlyLane = lane.value
  const visible = lanes.value.filter(
    (one) => one && (onlyLane === 'all' || one.index === onlyLane) && one.state !== 'failed',
  )
  const laneHeight = laneHeightFor(visible.length)
  const height = axisHeight + Math.max(1, visible.length) * laneHeight
  // Rows without a time come first.
  const timed = lowerBound(table.order, 1)
  const isEmpty = timed === table.order.length
  const extent = extentOf(timed, onlyLane)
  const view = window.value ?? extent.padded
  const matches = filterMatches.value
  const shown = (row: number): boolean => exchangePasses(matches, row)

  useEffect(() => {
    window.value = undefined
  }, [onlyLane])

  useEffect(() => {
    const element = canvas.current!
    const [from, to] = view
    const indexes = visible.map(({ index }) => index)
    const inks = inksOf(element)
    const picture = { width, height, from, to, origin: origin.value, isEmpty, laneHeight, inks, shown }
    const steps = draw(element, { ...picture, lanes: indexes })
    // A short recording is drawn within this frame.
    return steps.next().done ? undefined : inSlices(steps, () => undefined)
    // The theme is a dependency: colours come from the style sheet.
  }, [version.value, ...view, width, height, matches, isDark.value, visible.map(({ index }) => index).join()])

  useWheelZoom(canvas, view, extent.padded, window)

  function chooseAt(event: PointerEvent, at: number): void {
    const box = canvas.current!.getBoundingClientRect()
    const which = visible[Math.floor((event.clientY - box.top - axisHeight) / laneHeight)]
    const row = nearestRow(at, ((view[1] - view[0]) / box.width) * 6, which?.index, shown)
    if (row >= 0) select(headOf(row))
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
          onPointerDown={(event) => followBrush(event, view, brush, chooseAt)}
          onDblClick={() => {
            window.value = undefined
            range.value = undefined
          }}
          role="img"
          aria-label={`${table.length} messages${isEmpty ? '' : ` over ${formatDuration(extent.lastsUs)}`}. Drag to select a time range, scroll to zoom, double-click to reset.`}
        />
        <Marks view={view} brushed={brush.value ?? range.value} />
      </div>
      {table.order.length > 0 && isEmpty && <p class="timeline-nothing">This recording has no timestamps.</p>}
      {window.value && (
        <button type="button" class="button small timeline-all" onClick={() => (window.value = undefined)}>
          all
        </button>
      )}
    </section>
  )
}

/** The needle at the selected row, and the shades beside the selected range. */
function Marks({ view: [from, to], brushed }: { view: Range; brushed: Range | undefined }) {
  const place = (at: number): string => `${Math.max(0, Math.min(100, ((at - from) / (to - from)) * 100))}%`
  const at = selected.value >= 0 && selected.value < table.length ? table.at(selected.value) : undefined
  return (
    <>
      {at !== undefined && <div class="needle" hidden={at < from || at > to} style={{ left: place(at) }} />}
      {brushed && (
        <>
          <div class="shade" style={{ left: 0, width: place(brushed[0]) }} />
          <div class="shade" style={{ left: place(brushed[1]), right: 0 }} />
          <div
            class="brush"
            style={{
              left: place(brushed[0]),
              width: `calc(${place(brushed[1])} - ${place(brushed[0])})`,
            }}
          >
            <span>{formatDuration(brushed[1] - brushed[0])}</span>
          </div>
        </>
      )}
    </>
  )
}

/** The time of the shown rows, and with a margin. A lane shown alone has its own. */
function extentOf(timed: number, onlyLane: number | 'all'): { lastsUs: number; padded: Range } {
  const { order } = table
  const isShown = (row: number): boolean => onlyLane === 'all' || table.lane(row) === onlyLane
  let first = timed
  while (first < order.length && !isShown(order[first]!)) first += 1
  let last = order.length - 1
  while (last > first && !isShown(order[last]!)) last -= 1
  const begin = first === order.length ? 0 : Math.min(origin.value, table.at(order[first]!))
  const end = first === order.length ? 1 : table.at(order[last]!)
  const pad = Math.max(1, (end - begin) * 0.01)
  return { lastsUs: end - begin, padded: [begin - pad * 0.2, end + pad] }
}

/** A bar represents an exchange, which is shown if one of its messages matches. */
function exchangePasses(matches: Matches | undefined, row: number): boolean {
  if (!matches || matches.has(row) || matches.has(headOf(row))) return true
  const answer = responseTo(row)
  return answer >= 0 && matches.has(answer)
}

/** The row of a request's response; -1 for none. */
const responseTo = (row: number): number => (table.kind(row) === 'request' ? table.peer(row) : -1)

/** The row whose exchange is nearest to a time, at most `slack` away; -1 for none. */
function nearestRow(
  at: number,
  slack: number,
  onlyLane: number | undefined,
  shown: (row: number) => boolean,
): number {
  const { order } = table
  let best = -1
  let distance = slack
  for (let i = lowerBound(order, at - 60e6); i < order.length; i += 1) {
    const row = order[i]!
    if (table.at(row) > at + slack) break
    if ((onlyLane !== undefined && table.lane(row) !== onlyLane) || !shown(row)) continue
    const answer = responseTo(row)
    const rowEnd = answer >= 0 ? table.at(answer) : table.at(row)
    const away = at < table.at(row) ? table.at(row) - at : Math.max(0, at - rowEnd)
    if (away <= distance) [best, distance] = [row, away]
  }
  return best
}

/** The wheel zooms around the pointer; with Shift, or sideways, it moves the window. */
function useWheelZoom(
  canvas: RefObject<HTMLCanvasElement | null>,
  view: Range,
  whole: Range,
  window: Signal<Range | undefined>,
): void {
  useEffect(() => {
    const element = canvas.current!
    const wheel = (event: WheelEvent): void => {
      event.preventDefault()
      const [from, to] = view
      const at = timeAt(element, view, event)
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        const by = ((event.deltaX || event.deltaY) / element.clientWidth) * (to - from)
        window.value = [from + by, to + by]
        return
      }
      const factor = Math.exp(event.deltaY * 0.002)
      const next = [at - (at - from) * factor, at + (to - at) * factor] as const
      if (next[1] - next[0] < leastUs) return
      window.value = next[0] <= whole[0] && next[1] >= whole[1] ? undefined : next
    }
    element.addEventListener('wheel', wheel, { passive: false })
    return () => element.removeEventListener('wheel', wheel)
  })
}

function timeAt(element: Element, [from, to]: Range, event: MouseEvent): number {
  const box = element.getBoundingClientRect()
  return from + ((event.clientX - box.left) / box.width) * (to - from)
}

/** Follows a drag until the pointer is released: it selects a range. A press without a move is a click. */
function followBrush(
  event: PointerEvent & { readonly currentTarget: HTMLCanvasElement },
  view: Range,
  brush: Signal<Range | undefined>,
  onClick: (event: PointerEvent, at: number) => void,
): void {
  if (event.button !== 0) return
  const element = event.currentTarget
  const start = timeAt(element, view, event)
  const startX = event.clientX
  element.setPointerCapture(event.pointerId)
  const move = (moved: PointerEvent): void => {
    if (Math.abs(moved.clientX - startX) < 4 && !brush.value) return
    const at = timeAt(element, view, moved)
    brush.value = [Math.min(start, at), Math.max(start, at)]
  }
  const done = (): void => {
    element.removeEventListener('pointermove', move)
    element.removeEventListener('pointerup', done)
    element.removeEventListener('pointercancel', done)
    if (brush.value) range.value = brush.value
    else if (range.value) range.value = undefined
    else onClick(event, start)
    brush.value = undefined
  }
  element.addEventListener('pointermove', move)
  element.addEventListener('pointerup', done)
  element.addEventListener('pointercancel', done)
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
