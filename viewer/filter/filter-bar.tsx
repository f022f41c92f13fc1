import { useState } from 'preact/hooks'
import { formatCount } from '../../src/render/index.js'
import { clearFilters, search } from '../store/actions.js'
import { troublesOf } from '../store/trouble-count.js'
import {
  faultyFilter,
  filterMatches,
  filterText,
  grouped,
  highlightMatches,
  highlightText,
  lane,
  range,
  version,
} from '../store/state.js'
import { PhoneColumns } from '../list/columns.js'
import { Icon } from '../shell/icons.js'
import { isSmall } from '../shell/small.js'
import { FilterField } from './filter-field.js'

/** The rows that every count of errors counts. */
export const errorsOnly = 'is:error'

/** The most useful filters, one click away. */
const quick = [
  { label: 'Errors', text: errorsOnly, title: 'JSON-RPC errors and tool errors' },
  { label: 'Tool calls', text: 'method:tools/call', title: 'Tool calls with their responses' },
  { label: 'Unanswered', text: 'is:unanswered', title: 'Requests without a response' },
  { label: 'Slow', text: 'latency:>1s', title: 'Exchanges longer than one second' },
] as const

/** The filter, the highlight, and the grouping of rows. */
export function FilterBar() {
  version.value
  const found = filterMatches.value
  const any = found !== undefined || range.value !== undefined
  const [open, setOpen] = useState(false)
  const isOpen = isSmall.value && open
  return (
    <div class={`filter-bar ${isOpen ? 'is-open' : ''}`} role="search">
      <FilterField
        slot="filter"
        icon="search"
        label="Filter"
        placeholder="Filter: method:tools/call  status:error  latency:>200ms  word"
        text={filterText.value}
        matches={found}
        onText={(text) => search('filter', text)}
      />
      <FilterField
        slot="highlight"
        icon="marker"
        label="Highlight"
        placeholder="Highlight"
        text={highlightText.value}
        matches={highlightMatches.value}
        onText={(text) => search('highlight', text)}
      />
      {isSmall.value && (
        <button
          type="button"
          class={`button ${open ? 'on' : ''}`}
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        >
          View
        </button>
      )}
      {isOpen && <PhoneColumns />}
      <div class="chips">
        {quick.map(({ label, text, title }) => (
          <button
            key={label}
            type="button"
            class="chip"
            title={title}
            aria-pressed={placeIn(filterText.value, text) >= 0}
            onClick={() => search('filter', toggled(typedFilter(), text))}
          >
            {label}
            {label === 'Errors' && <ErrorCount />}
          </button>
        ))}
      </div>
      <span class="grow" />
      {any && (
        <button type="button" class="button small" title="Clear the filter (c)" onClick={clearFilters}>
          <Icon name="close" /> <span class="word">Clear</span>
        </button>
      )}
      <button
        type="button"
        class="chip"
        aria-pressed={!grouped.value}
        title="Show every message in its own row (x)"
        onClick={() => (grouped.value = !grouped.value)}
      >
        All messages
      </button>
    </div>
  )
}

/** The text of the filter field, including the latest keys; the last valid filter if that text is invalid. */
export function typedFilter(): string {
  const field = document.querySelector<HTMLInputElement>('[data-find=filter]')
  return faultyFilter.value || !field ? filterText.value : field.value
}

/** A chip adds a condition to the typed text, and removes only that condition. */
function toggled(typed: string, chip: string): string {
  const at = placeIn(typed, chip)
  if (at < 0) return narrowed(typed, chip)
  return (typed.slice(0, at) + typed.slice(at + chip.length)).replaceAll(/\s{2,}/g, ' ').trim()
}

/** The position of a condition in a filter; -1 also if it is only part of another one, as in `-is:error`. */
export function placeIn(typed: string, condition: string): number {
  const isEdge = (character: string | undefined): boolean =>
    character === undefined || /[\s()]/.test(character)
  for (let at = typed.indexOf(condition); at >= 0; at = typed.indexOf(condition, at + 1))
    if (isEdge(typed[at - 1]) && isEdge(typed[at + condition.length])) return at
  return -1
}

/** A filter with one more condition. */
export function narrowed(typed: string, condition: string): string {
  const isWide = /\bor\b/i.test(typed) && !/^\([^()]*\)$/.test(typed.trim())
  return `${isWide ? `(${typed.trim()})` : typed.trim()} ${condition}`.trim()
}

function ErrorCount() {
  version.value
  const { errors } = troublesOf(lane.value)
  return errors === 0 ? null : <span class="bad-count">{formatCount(errors)}</span>
}
