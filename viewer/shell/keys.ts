import { useEffect } from 'preact/hooks'
import { toggle, listHandle } from '../list/list.js'
import { headOf, isBad } from '../store/exchange.js'
import { chooseFiles, clearFilters, select } from '../store/actions.js'
import { indexOfRow, rowOf, shown } from '../store/shown.js'
import {
  chosenOnly,
  dialog,
  expanded,
  follow,
  grouped,
  lanes,
  selected,
  table,
  theme,
  view,
} from '../store/state.js'
import { isDark } from './theme.js'

/** An action of the user. Keys, help and palette all use this table. */
export interface Deed {
  readonly name: string
  readonly keys?: readonly string[]
  readonly group: 'Navigate' | 'View' | 'Find' | 'Page'
  run(): void
}

function step(by: number): void {
  const items = shown.value
  if (items.length === 0) return
  const index = selected.value < 0 ? -1 : indexOfRow(selected.value)
  // Without a selection, a step selects the first row; a jump to the end still goes there.
  const wanted = index < 0 && Number.isFinite(by) ? 0 : index + by
  const next = Math.max(0, Math.min(items.length - 1, wanted))
  select(rowOf(items[next]!))
}

/** Selects the next error in a direction; an exchange counts by its response. */
function toError(by: 1 | -1): void {
  const items = shown.value
  let index = selected.value < 0 ? (by > 0 ? -1 : items.length) : indexOfRow(selected.value)
  for (index += by; index >= 0 && index < items.length; index += by) {
    const row = rowOf(items[index]!)
    // If messages are not grouped, the row of the response is selected instead.
    const isSaidBelow = !grouped.value && table.kind(row) === 'request' && table.peer(row) >= 0
    if (isBad(row) && !isSaidBelow) {
      select(row)
      return
    }
  }
}

function toPeer(wanted: 'request' | 'answer'): void {
  const row = selected.value
  if (row < 0) return
  const isAnswer = table.kind(row) === 'result' || table.kind(row) === 'error'
  const target = wanted === 'request' ? headOf(row) : isAnswer ? row : table.peer(row)
  if (target < 0 || target === row) return
  if (wanted === 'answer' && grouped.value) expanded.value = new Set([...expanded.value, headOf(row)])
  select(target)
}

function focus(selector: string): void {
  document.querySelector<HTMLInputElement>(selector)?.focus()
}

export const deeds: readonly Deed[] = [
  { name: 'Next row', keys: ['j', 'ArrowDown'], group: 'Navigate', run: () => step(1) },
  { name: 'Previous row', keys: ['k', 'ArrowUp'], group: 'Navigate', run: () => step(-1) },
  {
    name: 'Page down',
    keys: ['PageDown'],
    group: 'Navigate',
    run: () => step(listHandle.current?.pageRows() ?? 20),
  },
  {
    name: 'Page up',
    keys: ['PageUp'],
    group: 'Navigate',
    run: () => step(-(listHandle.current?.pageRows() ?? 20)),
  },
  { name: 'First row', keys: ['g', 'Home'], group: 'Navigate', run: () => step(-Infinity) },
  { name: 'Last row', keys: ['G', 'End'], group: 'Navigate', run: () => step(Infinity) },
  { name: 'Next error', keys: ['n'], group: 'Navigate', run: () => toError(1) },
  { name: 'Previous error', keys: ['N'], group: 'Navigate', run: () => toError(-1) },
  { name: 'Go to request', keys: ['['], group: 'Navigate', run: () => toPeer('request') },
  { name: 'Go to response', keys: [']'], group: 'Navigate', run: () => toPeer('answer') },
  {
    name: 'Expand or collapse the exchange',
    keys: ['Enter', 'e'],
    group: 'View',
    run: () => selected.value >= 0 && toggle(headOf(selected.value)),
  },
  { name: 'Collapse all', keys: ['E'], group: 'View', run: () => (expanded.value = new Set()) },
  {
    name: 'Show exchanges or all messages',
    keys: ['x'],
    group: 'View',
    run: () => (grouped.value = !grouped.value),
  },
  {
    name: 'Follow the live capture',
    keys: ['f'],
    group: 'View',
    run: () => (follow.value = !follow.value),
  },
  { name: 'Messages', keys: ['1'], group: 'View', run: () => (view.value = 'messages') },
  { name: 'Sequence diagram', keys: ['2'], group: 'View', run: () => (view.value = 'sequence') },
  {
    name: 'Sequence diagram of the selected exchange',
    keys: ['v'],
    group: 'View',
    run: () => {
      chosenOnly.value = view.value !== 'sequence' || !chosenOnly.value
      view.value = 'sequence'
    },
  },
  { name: 'Tools', keys: ['3'], group: 'View', run: () => (view.value = 'tools') },
  {
    name: 'Compare',
    keys: ['4'],
    group: 'View',
    run: () => {
      if (lanes.value.length > 1) view.value = 'compare'
    },
  },
  { name: 'Findings', keys: ['5'], group: 'View', run: () => (view.value = 'findings') },
  { name: 'Cost', keys: ['6'], group: 'View', run: () => (view.value = 'cost') },
  { name: 'Filter', keys: ['/'], group: 'Find', run: () => focus('[data-find=filter]') },
  { name: 'Highlight', keys: ['h'], group: 'Find', run: () => focus('[data-find=highlight]') },
  { name: 'Find in message', keys: ['s'], group: 'Find', run: () => focus('[data-find=detail]') },
  { name: 'Clear the filter', keys: ['c'], group: 'Find', run: clearFilters },
  { name: 'Open files', keys: ['o'], group: 'Page', run: chooseFiles },
  { name: 'Export', keys: ['w'], group: 'Page', run: () => (dialog.value = 'export') },
  { name: 'About this recording', keys: ['i'], group: 'Page', run: () => (dialog.value = 'session') },
  {
    name: 'Light or dark theme',
    keys: ['t'],
    group: 'Page',
    run: () => (theme.value = isDark.value ? 'light' : 'dark'),
  },
  { name: 'Commands', keys: ['Ctrl+K'], group: 'Page', run: () => (dialog.value = 'palette') },
  { name: 'Keyboard shortcuts', keys: ['?'], group: 'Page', run: () => (dialog.value = 'help') },
]

/** Shortcuts work unless the user is typing text. */
export function useKeys(): void {
  useEffect(() => {
    const byKey = new Map(deeds.flatMap((deed) => (deed.keys ?? []).map((key) => [key, deed] as const)))
    const pressed = (event: KeyboardEvent): void => {
      // A form over the page, whose focus may be nowhere: its button is disabled while it is busy.
      if (!dialog.value && document.querySelector('dialog:modal')) return
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        dialog.value = 'palette'
        return
      }
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || dialog.value) return
      const target = event.target as Element
      const typing = target.closest('input, textarea, select, [contenteditable]')
      if (event.key === 'Escape') {
        if (typing instanceof HTMLElement) typing.blur()
        else selected.value = -1
        return
      }
      if (typing) return
      // Buttons and the splitter have keys of their own.
      if (event.key === 'Enter' && target.closest('button, a, summary, [role=separator]')) return
      if (event.key.startsWith('Arrow') && target.closest('[role=separator], .detail-body')) return
      if (/^(?:Page|Home|End)/.test(event.key) && target.closest('.detail-body')) return
      const deed = byKey.get(event.key)
      if (!deed) return
      event.preventDefault()
      deed.run()
    }
    document.addEventListener('keydown', pressed)
    return () => document.removeEventListener('keydown', pressed)
  }, [])
}
