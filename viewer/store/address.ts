import { effect } from '@preact/signals'
import { search } from './actions.js'
import { verdicts } from '../../src/compare/index.js'
import { columns, layout } from './columns.js'
import {
  comparedOnly,
  detailTab,
  expanded,
  filterText,
  grouped,
  highlightText,
  lane,
  lanes,
  opening,
  order,
  origin,
  range,
  reading,
  selected,
  table,
  toolOpen,
  toolsOrder,
  version,
  view,
  type SortKey,
  type ToolsKey,
  type View,
} from './state.js'

const views: readonly View[] = ['messages', 'sequence', 'tools', 'compare', 'findings', 'cost']
/** Delay after the last change; browsers reject URLs that change too often. */
const pauseMs = 250
/** Maximum number of unfolded exchanges in a URL. */
const mostOpen = 50

/** Restores the view from the URL, and keeps the URL up to date. Times are microseconds since the start. */
export function bindAddress(): void {
  const wanted = new URLSearchParams(location.hash.slice(1))
  apply(wanted)
  effect(() => {
    const all = lanes.value
    // The URL may name a lane of other recordings.
    const isThere = all.length > 0 && !reading.value && opening.value.length === 0
    if (isThere && lane.value !== 'all' && !all[lane.value]) lane.value = 'all'
  })
  let timer: ReturnType<typeof setTimeout> | undefined
  let last = location.hash
  effect(() => {
    const text = describe()
    clearTimeout(timer)
    timer = setTimeout(() => {
      if (`#${text}` === last || (text === '' && last === '')) return
      last = text === '' ? '' : `#${text}`
      try {
        history.replaceState(null, '', `${location.pathname}${location.search}${last}`)
      } catch {
        // Some browsers forbid this for a page from a file; the page works without.
      }
    }, pauseMs)
  })
  addEventListener('hashchange', () => {
    if (location.hash === last) return
    last = location.hash
    apply(new URLSearchParams(location.hash.slice(1)))
  })
}

function describe(): string {
  const state = new URLSearchParams()
  if (view.value !== 'messages') state.set('view', view.value)
  if (lane.value !== 'all') state.set('lane', String(lane.value))
  if (filterText.value !== '') state.set('filter', filterText.value)
  if (highlightText.value !== '') state.set('highlight', highlightText.value)
  if (!grouped.value) state.set('messages', 'all')
  if (detailTab.value === 'story') state.set('detail', 'story')
  if (range.value) state.set('range', range.value.map((at) => Math.round(at - origin.peek())).join('..'))
  const { key: by, down: isDown } = order.value
  if (by !== 'time' || isDown) state.set('order', `${by}${isDown ? '.down' : ''}`)
  if (layout.value.hidden.length > 0) state.set('hide', layout.value.hidden.join(','))
  const { key, down } = toolsOrder.value
  if (key !== 'calls' || !down) state.set('sort', `${key}${down ? '' : '.up'}`)
  if (toolOpen.value !== undefined && view.value === 'tools') state.set('tool', toolOpen.value)
  if (comparedOnly.value !== 'differences') state.set('only', comparedOnly.value)
  if (expanded.value.size > 0) state.set('open', [...expanded.value].slice(-mostOpen).join(','))
  if (selected.value >= 0) state.set('row', String(selected.value))
  return state.toString()
}

function apply(wanted: URLSearchParams): void {
  const named = views.find((one) => one === wanted.get('view'))
  if (named) view.value = named
  const only = Number(wanted.get('lane') ?? NaN)
  if (Number.isInteger(only) && only >= 0) lane.value = only
  grouped.value = wanted.get('messages') !== 'all'
  detailTab.value = wanted.get('detail') === 'story' ? 'story' : 'messages'
  search('filter', (wanted.get('filter') ?? '').slice(0, 4_000))
  search('highlight', (wanted.get('highlight') ?? '').slice(0, 4_000))
  const sort = /^(name|calls|errors|p50Us|p95Us|maxUs|sizeBytes)(\.up)?$/.exec(wanted.get('sort') ?? '')
  if (sort) toolsOrder.value = { key: sort[1] as ToolsKey, down: sort[2] === undefined }
  const [, by, down] =
    /^(time|name|content|status|latency|size)(\.down)?$/.exec(wanted.get('order') ?? '') ?? []
  order.value = { key: (by ?? 'time') as SortKey, down: down !== undefined }
  const hidden = wanted.get('hide')?.split(',')
  if (hidden)
    layout.value = {
      widths: layout.value.widths,
      hidden: columns.filter((name) => hidden.includes(name)),
    }
  toolOpen.value = wanted.get('tool') ?? undefined
  comparedOnly.value =
    verdicts.find((one) => one === wanted.get('only')) ??
    (wanted.get('only') === 'all' ? 'all' : 'differences')
  const open = (wanted.get('open') ?? '').split(',').filter((text) => /^\d{1,9}$/.test(text))
  expanded.value = new Set(open.slice(0, mostOpen).map(Number))
  const seq = Number(wanted.get('seq') ?? NaN)
  if (Number.isInteger(seq)) selectNumber(seq)
  const row = Number(wanted.get('row') ?? NaN)
  const span = /^(-?\d{1,15})\.\.(-?\d{1,15})$/.exec(wanted.get('range') ?? '')
  if (!Number.isInteger(row) && !span) return
  // Row and range are meaningful only once there are rows.
  const stop = effect(() => {
    version.value
    if (table.length === 0) return
    if (span && !range.peek()) range.value = [origin.value + Number(span[1]), origin.value + Number(span[2])]
    if (Number.isInteger(row) && row >= table.length) return
    if (Number.isInteger(row)) selected.value = row
    queueMicrotask(() => stop())
  })
}

/** Selects the message with this number once it has arrived. */
function selectNumber(seq: number): void {
  let from = 0
  const stop = effect(() => {
    version.value
    for (; from < table.length; from += 1) {
      if (table.seq(from) !== seq) continue
      selected.value = from
      return queueMicrotask(() => stop())
    }
    return undefined
  })
}
