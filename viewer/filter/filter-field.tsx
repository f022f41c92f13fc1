import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { completeFilter, parseFilter, type Completion } from '../../src/filter/index.js'
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
  const typed = useSignal(props.text)
  const open = useSignal(false)
  const at = useSignal(-1)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  // The filter was changed elsewhere: by a chip or the address bar.
  useEffect(() => {
    clearTimeout(timer.current)
    typed.value = props.text
  }, [props.text])

  // A pattern that had to wait for its engine to load.
  useEffect(() => {
    if (hasPatterns.value && typed.value !== props.text) change(typed.value)
  }, [hasPatterns.value])

  const parsed = parseFilter(typed.value)
  const cursor = input.current?.selectionStart ?? typed.value.length
  const offered = open.value
    ? completeFilter(typed.value, cursor, knownNames())
    : { from: 0, to: 0, options: [] as readonly Completion[] }
  const options = offered.options.slice(0, 12)

  function change(text: string): void {
    typed.value = text
    at.value = -1
    clearTimeout(timer.current)
    if (parseFilter(text).filter)
      timer.current = setTimeout(() => props.onText(text), text === '' ? 0 : pauseMs)
  }

  function take(option: Completion): void {
    const next = typed.value.slice(0, offered.from) + option.text + typed.value.slice(offered.to)
    change(next)
    const end = offered.from + option.text.length
    requestAnimationFrame(() => input.current?.setSelectionRange(end, end))
    input.current?.focus()
  }

  function pressed(event: KeyboardEvent): void {
    const { key } = event
    if (key === 'ArrowDown' || key === 'ArrowUp') {
      if (!open.value) open.value = true
      else if (options.length > 0) {
        const step = key === 'ArrowDown' ? 1 : -1
        at.value = (at.value + step + options.length + (at.value < 0 && step < 0 ? 1 : 0)) % options.length
      }
      event.preventDefault()
    } else if (
      (key === 'Tab' && !event.shiftKey && open.value && options.length > 0 && typed.value !== '') ||
      (key === 'Enter' && at.value >= 0)
    ) {
      take(options[Math.max(0, at.value)]!)
      event.preventDefault()
    } else if (key === 'Enter') {
      open.value = false
      clearTimeout(timer.current)
      if (parsed.filter) props.onText(typed.value)
    } else if (key === 'Escape' && open.value && options.length > 0) {
      open.value = false
      event.preventDefault()
      event.stopPropagation()
    }
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
          change(currentTarget.value)
        }}
        onClick={() => (open.value = true)}
        onBlur={() => (open.value = false)}
        onKeyDown={pressed}
      />
      {props.matches && state === 'good' && (
        <span class="count">
          {formatCount(props.matches.count)}
          {props.matches.done ? '' : '…'}
        </span>
      )}
      <div class="drop-down" hidden={!open.value || (options.length === 0 && !parsed.fault)}>
        {parsed.fault && !isUnfinished && (
          <p class="fault" id={`${listId}-fault`} role="alert">
            <span>
              {clean(typed.value.slice(Math.max(0, parsed.fault.column - 16), parsed.fault.column - 1))}
            </span>
            <b>
              {clean(
                typed.value.slice(parsed.fault.column - 1, parsed.fault.column - 1 + parsed.fault.length),
              ) || '␣'}
            </b>{' '}
            {clean(parsed.fault.message)}
          </p>
        )}
        <ul id={listId} role="listbox" aria-label={`Suggestions for ${props.label.toLowerCase()}`}>
          {options.map((option, i) => (
            <li
              key={option.label}
              id={`${listId}-${i}`}
              role="option"
              aria-selected={i === at.value}
              onPointerDown={(event) => {
                // Keeps the focus in the field.
                event.preventDefault()
                take(option)
              }}
            >
              <b>{clean(option.label)}</b>
              <span>{clean(option.about)}</span>
            </li>
          ))}
        </ul>
      </div>
    </div>
  )
}
