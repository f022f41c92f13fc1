import { signal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { quoteValue } from '../../src/filter/index.js'
import { copy, copyForms, formsOf } from '../detail/copy.js'
import { narrowed, typedFilter } from '../filter/filter-bar.js'
import { clean } from '../shell/clean.js'
import { rowActions, type RowAction } from '../shell/page-door.js'
import { search, select } from '../store/actions.js'
import { headOf } from '../store/exchange.js'
import { detailTab, selected, table } from '../store/state.js'

interface Open {
  readonly row: number
  /** Pixels in the window. */
  readonly x: number
  readonly y: number
}

const open = signal<Open | undefined>(undefined)

/** Opens the menu of the row under the pointer or, from the keyboard, of the selected row. */
export function openRowMenu(event: MouseEvent): void {
  const target = event.target as Element
  // Selected text keeps the browser's own menu.
  if (getSelection()?.isCollapsed === false) return
  const element = target.closest('.row[id]') ?? document.querySelector(`#row-${selected.value}`)
  const row = Number(element?.id.replace('row-', '') || NaN)
  if (!element || !Number.isInteger(row)) return
  event.preventDefault()
  const box = element.getBoundingClientRect()
  const isPointer = target.closest('.row') !== null
  select(row)
  open.value = {
    row,
    x: isPointer ? event.clientX : box.left + 60,
    y: isPointer ? event.clientY : box.bottom,
  }
}

/** Opens the menu at a button of the row. The row stays unchosen: on a phone, choosing it leaves the list. */
export function openRowMenuAt(row: number, button: HTMLElement): void {
  const { right, bottom } = button.getBoundingClientRect()
  open.value = { row, x: right, y: bottom }
}

/** Actions for one row. */
export function RowMenu() {
  const at = open.value
  const box = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const element = box.current
    if (!at || !element) return undefined
    const { width, height } = element.getBoundingClientRect()
    element.style.left = `${Math.max(4, Math.min(at.x, innerWidth - width - 4))}px`
    element.style.top = `${Math.max(4, Math.min(at.y, innerHeight - height - 4))}px`
    element.querySelector('button')?.focus()
    const away = (event: Event): void => {
      if (!element.contains(event.target as Node)) open.value = undefined
    }
    addEventListener('pointerdown', away, true)
    addEventListener('wheel', away, true)
    return () => {
      removeEventListener('pointerdown', away, true)
      removeEventListener('wheel', away, true)
    }
  }, [at])
  if (!at) return null
  return (
    <div
      class="menu-list row-menu"
      role="menu"
      aria-label="This message"
      ref={box}
      onKeyDown={(event) => moveIn(box.current!, event)}
    >
      {itemsOf(at.row).map((group, i) => (
        <div key={i} role="group" aria-label={group.name}>
          {group.items.map(({ name, run }) => (
            <button
              key={name}
              type="button"
              role="menuitem"
              onClick={() => {
                close()
                run()
              }}
            >
              {name}
            </button>
          ))}
        </div>
      ))}
    </div>
  )
}

function itemsOf(row: number): { readonly name: string; readonly items: readonly RowAction[] }[] {
  const head = headOf(row)
  const method = table.method(head)
  const subject = table.subject(head)
  const isTool = method === 'tools/call' && subject !== ''
  const text = isTool ? `tool:${quoteValue(subject)}` : `method:${quoteValue(method)}`
  const shown = clean(isTool ? subject : method).slice(0, 60)
  const look: RowAction[] = [
    ...(table.kind(head) === 'request' ? [{ name: 'Show story', run: () => showStory(head) }] : []),
    ...(method === ''
      ? []
      : [
          { name: `Show only ${shown}`, run: () => narrow(text, text) },
          { name: `Hide ${shown}`, run: () => narrow(`-${text}`, text) },
          { name: `Highlight ${shown}`, run: () => search('highlight', text) },
        ]),
  ]
  const copies = formsOf(row).map((form) => ({
    name: `Copy as ${copyForms[form]}`,
    run: () => void copy(row, form),
  }))
  return [
    { name: 'View', items: look },
    { name: 'Act', items: rowActions.value(row) },
    { name: 'Copy', items: copies },
  ].filter(({ items }) => items.length > 0)
}

/** Adds a condition, and removes earlier conditions of the same name. */
function narrow(condition: string, name: string): void {
  const others = typedFilter()
    .split(' ')
    .filter((word) => word !== name && word !== `-${name}`)
  search('filter', narrowed(others.join(' '), condition))
}

function showStory(row: number): void {
  select(row)
  detailTab.value = 'story'
}

/** Standard menu keys: arrows, Home and End move, Escape and Tab leave. */
function moveIn(box: HTMLElement, event: KeyboardEvent): void {
  const buttons = [...box.querySelectorAll('button')]
  const now = buttons.indexOf(document.activeElement as HTMLButtonElement)
  const next: Readonly<Record<string, number>> = {
    ArrowDown: (now + 1) % buttons.length,
    ArrowUp: (now - 1 + buttons.length) % buttons.length,
    Home: 0,
    End: buttons.length - 1,
  }
  const wanted = next[event.key]
  if (wanted === undefined && event.key !== 'Escape' && event.key !== 'Tab') return
  event.preventDefault()
  event.stopPropagation()
  if (wanted === undefined) close()
  else buttons[wanted]?.focus()
}

function close(): void {
  open.value = undefined
  document.querySelector<HTMLElement>('.list .scroller')?.focus()
}
