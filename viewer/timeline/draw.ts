import { isBad } from '../store/exchange.js'
import { table } from '../store/state.js'

/** Colours from the style sheet. */
export interface Inks {
  readonly lanes: readonly string[]
  readonly bad: string
  readonly line: string
  readonly text: string
  readonly gap: string
  readonly note: string
}

export interface Picture {
  readonly width: number
  readonly height: number
  /** Microseconds since 1970 at the left and right edge. */
  readonly from: number
  readonly to: number
  readonly origin: number
  /** True if no row has a time. */
  readonly isEmpty: boolean
  readonly lanes: readonly number[]
  readonly laneHeight: number
  readonly inks: Inks
  readonly shown: (row: number) => boolean
}

export const axisHeight = 18
/** Fewer lanes get more room, for overlapping exchanges. */
export function laneHeightFor(lanes: number): number {
  return lanes <= 1 ? 54 : lanes <= 3 ? 34 : 24
}
/** Maximum number of exchanges drawn one by one; beyond it, each pixel column shows a sum. */
const mostBars = 6_000

/** Draws lanes with a bar for each exchange, a tick for other rows, errors in red, and gaps hatched. */
export function* draw(element: HTMLCanvasElement, picture: Picture): Generator<void, void> {
  const { order } = table
  const first = lowerBound(order, picture.from - longest(order))
  const last = lowerBound(order, picture.to + 1)
  // The previous picture stays until the new one is complete.
  const sums =
    !picture.isEmpty && last - first > mostBars ? yield* sumUp(picture, order, first, last) : undefined
  const context = blank(element, picture)
  if (picture.isEmpty) return
  drawAxis(context, picture)
  if (sums) drawSums(context, picture, sums)
  else drawBars(context, picture, order, first, last)
}

/** The canvas, cleared, in the size of the picture. */
function blank(element: HTMLCanvasElement, { width, height }: Picture): CanvasRenderingContext2D {
  const ratio = devicePixelRatio
  element.width = Math.round(width * ratio)
  element.height = Math.round(height * ratio)
  const context = element.getContext('2d')!
  context.scale(ratio, ratio)
  return context
}

const xOf = (picture: Picture, at: number): number =>
  ((at - picture.from) / Math.max(1, picture.to - picture.from)) * picture.width

function drawAxis(context: CanvasRenderingContext2D, picture: Picture): void {
  const { width, height, from, to, origin, inks } = picture
  const step = niceStep((to - from) / Math.max(1, width / 110))
  context.strokeStyle = inks.line
  context.fillStyle = inks.text
  context.font = '11px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace'
  context.textBaseline = 'middle'
  context.beginPath()
  for (let at = origin + Math.ceil((from - origin) / step) * step; at <= to; at += step) {
    const x = Math.round(xOf(picture, at)) + 0.5
    context.moveTo(x, 0)
    context.lineTo(x, height)
    context.fillText(label(at - origin, step), x + 4, axisHeight / 2 + 1)
  }
  for (let i = 0; i <= picture.lanes.length; i += 1) {
    const y = axisHeight + i * picture.laneHeight - 0.5
    context.moveTo(0, y)
    context.lineTo(width, y)
  }
  context.stroke()
}

function drawBars(
  context: CanvasRenderingContext2D,
  picture: Picture,
  order: Int32Array,
  first: number,
  last: number,
): void {
  const { laneHeight } = picture
  /** Overlapping bars go on separate lines, as many as fit into the lane. */
  const lineCount = Math.floor((laneHeight - 8) / 4)
  const ends = picture.lanes.map(() => Array.from({ length: lineCount }, () => 0))
  for (let i = first; i < last; i += 1) {
    const row = order[i]!
    const laneAt = picture.lanes.indexOf(table.lane(row))
    if (laneAt < 0 || !picture.shown(row)) continue
    const kind = table.kind(row)
    const top = axisHeight + laneAt * laneHeight
    const x = xOf(picture, table.at(row))
    if (kind === 'gap') {
      context.fillStyle = picture.inks.gap
      context.fillRect(x - 1, top + 1, 3, laneHeight - 2)
      continue
    }
    if (kind === 'note') {
      drawNote(context, x, top, picture.inks)
      continue
    }
    const isAnswer = kind === 'result' || kind === 'error'
    if (isAnswer && table.peer(row) >= 0) continue
    context.fillStyle = isBad(row)
      ? picture.inks.bad
      : picture.inks.lanes[table.lane(row) % picture.inks.lanes.length]!
    const answer = kind === 'request' ? table.peer(row) : -1
    if (answer < 0) {
      context.globalAlpha = kind === 'stderr' ? 0.35 : 0.8
      context.fillRect(x, top + laneHeight - 6, 1.5, 4)
      context.globalAlpha = 1
      continue
    }
    // A task call lasts until its task ends, and without an end as far as the picture goes.
    const end = Math.min(table.at(answer) + table.taskUs(answer), picture.to)
    const wide = Math.max(2, xOf(picture, end) - x)
    const lines = ends[laneAt]!
    const free = lines.findIndex((end) => end <= x)
    const line = free < 0 ? lineCount - 1 : free
    lines[line] = x + wide + 1
    context.globalAlpha = 0.85
    context.fillRect(x, top + 3 + line * 4, wide, 3)
    context.globalAlpha = 1
  }
}

/** Messages per pixel column, by lane. */
interface Sums {
  readonly columns: number
  readonly sums: Uint32Array
  readonly bads: Uint32Array
  readonly gaps: Uint8Array
  readonly notes: readonly number[]
  readonly most: number
}

function* sumUp(picture: Picture, order: Int32Array, first: number, last: number): Generator<void, Sums> {
  const columns = Math.ceil(picture.width / 2)
  const lanes = picture.lanes.length
  const sums = new Uint32Array(columns * lanes)
  const bads = new Uint32Array(columns * lanes)
  const gaps = new Uint8Array(columns * lanes)
  const scale = columns / Math.max(1, picture.to - picture.from)
  const notes: number[] = []
  let most = 1
  const placeOf = placesOf(picture)
  for (let i = first; i < last; i += 1) {
    if (i % 4096 === 0) yield
    const row = order[i]!
    const lane = placeOf[table.lane(row)]!
    const column = Math.floor((table.at(row) - picture.from) * scale)
    if (lane < 0 || column < 0 || column >= columns || !picture.shown(row)) continue
    const cell = lane * columns + column
    sums[cell]! += 1
    if (sums[cell]! > most) most = sums[cell]!
    if (isBad(row)) bads[cell]! += 1
    const kind = table.kind(row)
    if (kind === 'gap') gaps[cell] = 1
    else if (kind === 'note') notes.push(row)
  }
  return { columns, sums, bads, gaps, notes, most }
}

const placesOf = ({ lanes }: Picture): readonly number[] =>
  Array.from({ length: 256 }, (_, lane) => lanes.indexOf(lane))

function drawSums(
  context: CanvasRenderingContext2D,
  picture: Picture,
  { columns, sums, bads, gaps, notes, most }: Sums,
): void {
  const { laneHeight } = picture
  const lanes = picture.lanes.length
  const placeOf = placesOf(picture)
  for (let lane = 0; lane < lanes; lane += 1) {
    const bottom = axisHeight + (lane + 1) * laneHeight - 2
    for (let column = 0; column < columns; column += 1) {
      const cell = lane * columns + column
      const sum = sums[cell]!
      if (sum === 0) continue
      // Square root, so that a single message stays visible beside thousands.
      const high = Math.max(2, Math.sqrt(sum / most) * (laneHeight - 5))
      context.globalAlpha = 0.75
      context.fillStyle = picture.inks.lanes[picture.lanes[lane]! % picture.inks.lanes.length]!
      context.fillRect(column * 2, bottom - high, 2, high)
      context.globalAlpha = 1
      if (bads[cell]! > 0) {
        const red = Math.max(2, (bads[cell]! / sum) * high)
        context.fillStyle = picture.inks.bad
        context.fillRect(column * 2, bottom - red, 2, red)
      }
      if (gaps[cell] === 1) {
        context.fillStyle = picture.inks.gap
        context.fillRect(column * 2, bottom - laneHeight + 3, 2, 4)
      }
    }
  }
  for (const row of notes.slice(0, mostBars))
    drawNote(
      context,
      xOf(picture, table.at(row)),
      axisHeight + placeOf[table.lane(row)]! * laneHeight,
      picture.inks,
    )
}

/** Draws a flag that hangs from the top of its lane. */
function drawNote(context: CanvasRenderingContext2D, x: number, top: number, inks: Inks): void {
  context.fillStyle = inks.note
  context.fillRect(x, top + 1, 1.5, 12)
  context.beginPath()
  context.moveTo(x, top + 1)
  context.lineTo(x + 8, top + 4.5)
  context.lineTo(x, top + 8)
  context.fill()
}

/** Index of the first row at or after a time. */
export function lowerBound(order: Int32Array, at: number): number {
  let low = 0
  let high = order.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (table.at(order[middle]!) < at) low = middle + 1
    else high = middle
  }
  return low
}

/** An exchange may begin before the left edge and reach into the picture; one minute back is searched. */
function longest(order: Int32Array): number {
  return order.length > 200_000 ? 0 : 60e6
}

const day = 86_400e6

function niceStep(wanted: number): number {
  // Minutes and hours use steps of sixty.
  for (const seconds of [15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400]) {
    if (wanted > 10e6 && seconds * 1e6 >= wanted) return seconds * 1e6
  }
  return wanted > day ? roundStep(wanted / day) * day : roundStep(wanted)
}

function roundStep(wanted: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, wanted)))
  for (const factor of [1, 2, 5, 10]) if (power * factor >= wanted) return power * factor
  return power * 10
}

function label(us: number, step: number): string {
  if (step < 1000) return `${(us / 1000).toFixed(1)} ms`
  if (step < 1e6)
    return us < 1e6 ? `${Math.round(us / 1000)} ms` : `${(us / 1e6).toFixed(step < 1e5 ? 2 : 1)} s`
  const seconds = Math.round(us / 1e6)
  if (seconds < 60) return `${seconds} s`
  const two = (n: number): string => String(n).padStart(2, '0')
  if (seconds < 3600) return `${Math.floor(seconds / 60)}:${two(seconds % 60)}`
  if (seconds >= 86_400) {
    const clock = `${two(Math.floor(seconds / 3600) % 24)}:${two(Math.floor(seconds / 60) % 60)}`
    const days = `${Math.floor(seconds / 86_400)}d`
    if (step >= day) return days
    return step < 60e6 ? `${days} ${clock}:${two(seconds % 60)}` : `${days} ${clock}`
  }
  return `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`
}
