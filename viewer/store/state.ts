import { computed, signal } from '@preact/signals'
import { startOf, type Lane } from '../worker/protocol.js'
import { createTable } from './table.js'

/** Everything the page knows. One place, so that the address bar can restore it. */
export const table = createTable()
/** Goes up when rows came or changed, at most once a frame. */
export const version = signal(0)
export const lanes = signal<readonly Lane[]>([])

/** Names of what is being fetched and is not there yet. */
export const opening = signal<readonly string[]>([])

export type View = 'messages' | 'sequence' | 'tools' | 'compare' | 'findings' | 'cost'
export const view = signal<View>('messages')
/** The lane that is looked at alone, or all. */
export const lane = signal<number | 'all'>('all')
/** Exchanges as one row, or every message by itself. */
export const grouped = signal(true)
export type SortKey = 'time' | 'name' | 'content' | 'status' | 'latency' | 'size'
/** How the list is sorted. */
export const order = signal<{ readonly key: SortKey; readonly down: boolean }>({ key: 'time', down: false })
export const selected = signal(-1)
export const expanded = signal<ReadonlySet<number>>(new Set<number>())
/** What the brush marked: microseconds since 1970. */
export const range = signal<readonly [from: number, to: number] | undefined>(undefined)
/** How the details show an exchange. */
export const detailTab = signal<'messages' | 'story'>('messages')
/** The sequence diagram shows the chosen exchange only. */
export const chosenOnly = signal(false)
/** The newest row stays in sight. */
export const follow = signal(false)

/** One bit a row. */
export interface Matches {
  readonly text: string
  readonly has: (row: number) => boolean
  readonly count: number
  readonly done: boolean
}
export const filterText = signal('')
export const highlightText = signal('')
/** Undefined: everything. */
export const filterMatches = signal<Matches | undefined>(undefined)
export const highlightMatches = signal<Matches | undefined>(undefined)

/** What stands in the filter's field is not understood: the rows are those of `filterText`. */
export const faultyFilter = signal(false)
/** The engine for patterns was loaded since the page began. */
export const hasPatterns = signal(false)

export type ToolsKey = 'name' | 'calls' | 'errors' | 'p50Us' | 'p95Us' | 'maxUs' | 'sizeBytes'
/** The column that the table of tools is sorted by. */
export const toolsOrder = signal<{ readonly key: ToolsKey; readonly down: boolean }>({
  key: 'calls',
  down: true,
})
/** The tool whose page is open. */
export const toolOpen = signal<string | undefined>(undefined)
/** Which comparisons are listed: a verdict, `differences` or `all`. */
export const comparedOnly = signal('differences')

export type Dialog = 'help' | 'palette' | 'export' | 'problems' | 'session'
export const dialog = signal<Dialog | undefined>(undefined)
/** A sentence that goes away by itself. */
export interface Notice {
  readonly text: string
  readonly tone: 'plain' | 'warn' | 'bad'
  /** Until another one comes. */
  readonly stays?: boolean
}
export const notice = signal<Notice | undefined>(undefined)
export const crashed = signal<string | undefined>(undefined)

export const theme = signal<'light' | 'dark' | 'system'>('system')

/** When the first row of what is looked at was seen; times are shown since then. */
export const origin = computed(() => {
  version.value
  let first = Infinity
  const shown = lanes.value.filter(({ index }) => lane.value === 'all' || index === lane.value)
  for (const { sessions } of shown) {
    // A recording without times begins in 1970.
    for (const { startedAt } of sessions) first = Math.min(first, startOf(startedAt) || Infinity)
  }
  if (Number.isFinite(first)) return first
  return table.length === 0 ? 0 : table.at(table.order.find((row) => table.at(row) > 0) ?? 0)
})

export const reading = computed(() => lanes.value.some(({ state }) => state === 'reading'))
export const live = computed(() => lanes.value.some(({ state }) => state === 'following'))
