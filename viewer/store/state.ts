import { computed, signal } from '@preact/signals'
import { startOf, type Lane } from '../worker/protocol.js'
import { Table } from './table.js'

/** The state of the page, in one place, so that the URL can restore it. */
export const table = new Table()
/** Incremented when rows are added or changed, at most once per frame. */
export const version = signal(0)
export const lanes = signal<readonly Lane[]>([])

/** Names of recordings being fetched. */
export const opening = signal<readonly string[]>([])

export type View = 'messages' | 'sequence' | 'tools' | 'compare' | 'findings' | 'cost'
export const view = signal<View>('messages')
/** The lane shown alone, or all. */
export const lane = signal<number | 'all'>('all')
/** True: an exchange is one row; false: every message has a row. */
export const grouped = signal(true)
export type SortKey = 'time' | 'name' | 'content' | 'status' | 'latency' | 'size'
/** Sort order of the list. */
export const order = signal<{ readonly key: SortKey; readonly down: boolean }>({ key: 'time', down: false })
export const selected = signal(-1)
export const expanded = signal<ReadonlySet<number>>(new Set<number>())
/** Time range marked in the timeline: microseconds since 1970. */
export const range = signal<readonly [from: number, to: number] | undefined>(undefined)
/** How the details show an exchange. */
export const detailTab = signal<'messages' | 'story'>('messages')
/** Whether the sequence diagram shows the selected exchange only. */
export const chosenOnly = signal(false)
/** Whether the newest row stays in view. */
export const follow = signal(false)

/** One bit per row. */
export interface Matches {
  readonly text: string
  readonly has: (row: number) => boolean
  readonly count: number
  readonly done: boolean
}
export const filterText = signal('')
export const highlightText = signal('')
/** Undefined: all rows match. */
export const filterMatches = signal<Matches | undefined>(undefined)
export const highlightMatches = signal<Matches | undefined>(undefined)

/** The text of the filter field is invalid: the rows still match `filterText`. */
export const faultyFilter = signal(false)
/** Whether the engine for patterns has loaded. */
export const hasPatterns = signal(false)

export type ToolsKey = 'name' | 'calls' | 'errors' | 'p50Us' | 'p95Us' | 'maxUs' | 'sizeBytes'
/** Sort order of the tools table. */
export const toolsOrder = signal<{ readonly key: ToolsKey; readonly down: boolean }>({
  key: 'calls',
  down: true,
})
/** The tool with an open page. */
export const toolOpen = signal<string | undefined>(undefined)
/** The comparisons listed: a verdict, `differences` or `all`. */
export const comparedOnly = signal('differences')

export type Dialog = 'help' | 'palette' | 'export' | 'problems' | 'session'
export const dialog = signal<Dialog | undefined>(undefined)
/** A sentence that disappears by itself. */
export interface Notice {
  readonly text: string
  readonly tone: 'plain' | 'warn' | 'bad'
  /** Stays until the next notice. */
  readonly stays?: boolean
}
export const notice = signal<Notice | undefined>(undefined)
export const crashed = signal<string | undefined>(undefined)

export const theme = signal<'light' | 'dark' | 'system'>('system')

/** Time of the first row shown; displayed times are relative to it. */
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
