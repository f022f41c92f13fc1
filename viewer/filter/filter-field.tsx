import { useSignal, type Signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { completeFilter, parseFilter, type Completion, type FilterFault } from '../../src/filter/index.js'
import { formatCount } from '../../src/render/index.js'
import { Icon } from '../shell/icons.js'
import { clean } from '../shell/clean.js'
import { faultyFilter, hasPatterns, type Matches } from '../store/state.js'
import { knownNames } from './known-names.js'

interface Props {
  readonly slot: 'filter' | 'highlight'
  readonly icon: 'search' | 'marker'
  readonly label: string
  readonly placeholder: string
  readonly text: string
  readonly matches: Matches | undefined
  readonly onText: (text: string) => void
}

/** Delay after the last key before the filter runs. */
const pauseMs = 140

/** A filter field that reports errors and offers completions while the user types. */
export function FilterField(props: Props) {
  const input = useRef<HTMLInputElement>(null)
  const { typed, change, submit } = useTypedFilter(props)
  const open = useSignal(false)
  /** The chosen option; -1 for none. */
  const at = useSignal(-1)

  const parsed = parseFilter(typed.value)
  const cursor = input.current?.selectionStart ?? typed.value.length
  const offered = open.value
    ? completeFilter(typed.value, cursor, knownNames())
    : { from: 0, to: 0, options: [] as readonly Completion[] }
  const options = offered.options.slice(0, 12)

  function edit(text: string): void {
    at.value = -1
    change(text)
  }

  function take(option: Completion): void {
    edit(typed.value.slice(0, offered.from) + option.text + typed.value.slice(offered.to))
    const end = offered.from + option.text.length
    requestAnimationFrame(() => input.current?.setSelectionRange(end, end))
    input.current?.focus()
  }

  // An unfinished filter is no error while completions are offered.
  const isUnfinished =
    parsed.fault !== undefined && parsed.fault.column > typed.value.length && options.length > 0
  const state = typed.value.trim() === '' || isUnfinished ? 'empty' : parsed.filter ? 'good' : 'faulty'
  useEffect(() => {
    if (props.slot === 'filter') faultyFilter.value = state === 'faulty'
  }, [state])
  const listId = `${props.slot}-options`
  return (
    <div class={`field filter-field is-${state} slot-${props.slot}`}>
      <Icon name={props.icon} />
      <input
        ref={input}
        type="text"
        role="combobox"
        data-find={props.slot}
        aria-label={props.label}
        aria-expanded={open.value && options.length > 0}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-invalid={state === 'faulty'}
        aria-activedescendant={at.value >= 0 ? `${listId}-${at.value}` : undefined}
        aria-describedby={parsed.fault ? `${listId}-fault` : undefined}
        placeholder={props.placeholder}
        autocomplete="off"
        spellcheck={false}
        value={typed.value}
        onInput={({ currentTarget }) => {
          open.value = true
          edit(currentTarget.value)
        }}
        onClick={() => (open.value = true)}
        onBlur={() => (open.value = false)}
        onKeyDown={(event) => pressed(event, { typed: typed.value, open, at, options, take, submit })}
      />
      {props.matches && state === 'good' && (
        <span class="count">
          {formatCount(props.matches.count)}
          {props.matches.done ? '' : '…'}
        </span>
      )}
      <div class="drop-down" hidden={!open.value || (options.length === 0 && !parsed.fault)}>
        {parsed.fault && !isUnfinished && (
          <Fault id={`${listId}-fault`} typed={typed.value} fault={parsed.fault} />
        )}
        <Suggestions id={listId} label={props.label} options={options} chosen={at.value} onTake={take} />
      </div>
    </div>
  )
}

/** The text in the field, and the filter made from it after a pause. */
function useTypedFilter({ text, onText }: Props) {
  const typed = useSignal(text)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  // The filter was changed elsewhere: by a chip or the address bar.
  useEffect(() => {
    clearTimeout(timer.current)
    typed.value = text
  }, [text])

  // A pattern that had to wait for its engine to load.
  useEffect(() => {
    if (hasPatterns.value && typed.value !== text) change(typed.value)
  }, [hasPatterns.value])

  function change(next: string): void {
    typed.value = next
    clearTimeout(timer.current)
    if (parseFilter(next).filter) timer.current = setTimeout(() => onText(next), next === '' ? 0 : pauseMs)
  }

  function submit(): void {
    clearTimeout(timer.current)
    if (parseFilter(typed.value).filter) onText(typed.value)
  }
  return { typed, change, submit }
}

interface Field {
  readonly typed: string
  readonly open: Signal<boolean>
  readonly at: Signal<number>
  readonly options: readonly Completion[]
  readonly take: (option: Completion) => void
  readonly submit: () => void
}

/** The keys of a combobox: arrows choose, Tab and Enter take an option, Escape closes the list. */
function pressed(event: KeyboardEvent, { typed, open, at, options, take, submit }: Field): void {
  const { key } = event
  const isOffering = open.value && options.length > 0
  if (key === 'ArrowDown' || key === 'ArrowUp') {
    if (!open.value) open.value = true
    else if (isOffering) {
      const step = key === 'ArrowDown' ? 1 : -1
      at.value = (at.value + step + options.length + (at.value < 0 && step < 0 ? 1 : 0)) % options.length
    }
    event.preventDefault()
  } else if (
    (key === 'Tab' && !event.shiftKey && isOffering && typed !== '') ||
    (key === 'Enter' && at.value >= 0)
  ) {
    take(options[Math.max(0, at.value)]!)
    event.preventDefault()
  } else if (key === 'Enter') {
    open.value = false
    submit()
  } else if (key === 'Escape' && isOffering) {
    open.value = false
    event.preventDefault()
    event.stopPropagation()
  }
}

function Fault({ id, typed, fault }: { id: string; typed: string; fault: FilterFault }) {
  const start = fault.column - 1
  return (
    <p class="fault" id={id} role="alert">
      <span>{clean(typed.slice(Math.max(0, start - 15), start))}</span>
      <b>{clean(typed.slice(start, start + fault.length)) || '␣'}</b> {clean(fault.message)}
    </p>
  )
}

interface SuggestionsProps {
  readonly id: string
  readonly label: string
  readonly options: readonly Completion[]
  readonly chosen: number
  readonly onTake: (option: Completion) => void
}

function Suggestions({ id, label, options, chosen, onTake }: SuggestionsProps) {
  return (
    <ul id={id} role="listbox" aria-label={`Suggestions for ${label.toLowerCase()}`}>
      {options.map((option, i) => (
        <li
          key={option.label}
          id={`${id}-${i}`}
          role="option"
          aria-selected={i === chosen}
          onPointerDown={(event) => {
            // Keeps the focus in the field.
            event.preventDefault()
            onTake(option)
          }}
        >
          <b>{clean(option.label)}</b>
          <span>{clean(option.about)}</span>
        </li>
      ))}
    </ul>
  )
}
