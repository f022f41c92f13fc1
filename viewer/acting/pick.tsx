import { signal, type Signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { clean } from '../shell/clean.js'
import { kept } from './kept.js'
import { useListed } from './listed.js'
import { tell, wordsOf } from './state.js'
import { nameOf, Told } from './told.js'
import { wanted, type Wanted } from './wanted.js'

export interface Named {
  /** Unique in its list. */
  readonly key: string
  readonly name: string
  /** '' for nothing. */
  readonly about: string
}

/** A list of the server, from which the user chooses one element. */
export interface Picker<T extends Named> {
  /** Undefined until loaded. */
  readonly all: Signal<readonly T[] | undefined>
  readonly fault: Signal<string>
  readonly key: Signal<string>
  /** Text that listed names contain. */
  readonly search: Signal<string>
  load(): void
}

/** The list is requested once in a session. @param id of the list */
export function usePicker<T extends Named>(id: Wanted['tab'], load: () => Promise<T[]>): Picker<T> {
  const picker = kept(`picker ${id}`, () => createPicker(load))
  useEffect(() => {
    if (!picker.all.value) picker.load()
  }, [picker])
  const all = picker.all.value
  const request = wanted.value?.tab === id ? wanted.value : undefined
  useEffect(() => {
    if (!request || !all) return
    const found = all.some((one) => one.key === request.key)
    if (found) picker.key.value = request.key
    // A resource need not be listed: any form takes its URI.
    else if (id !== 'resources' || all.length === 0) {
      wanted.value = undefined
      tell(`The server does not list ${request.key} now.`, 'bad')
    }
  }, [request, all])
  return picker
}

/** Calls `fill` with the wanted request, in the form of its tool, prompt or resource. */
export function useWanted(
  tab: Wanted['tab'],
  key: string | undefined,
  fill: (request: Wanted) => void,
): void {
  const request = wanted.value
  const isOwn = request?.tab === tab && (key === undefined || key === request.key)
  useEffect(() => {
    if (!isOwn) return
    wanted.value = undefined
    fill(request)
  }, [request, isOwn])
}

function createPicker<T extends Named>(load: () => Promise<T[]>): Picker<T> {
  const all = signal<readonly T[] | undefined>(undefined)
  const [fault, key, search] = [signal(''), signal(''), signal('')]
  return {
    all,
    fault,
    key,
    search,
    load() {
      fault.value = ''
      load().then(
        (found) => {
          all.value = found
          if (!found.some((one) => one.key === key.value)) key.value = found[0]?.key ?? ''
        },
        (error: unknown) => (fault.value = wordsOf(error)),
      )
    },
  }
}

export function chosenIn<T extends Named>({ all, key }: Picker<T>): T | undefined {
  return all.value?.find((one) => one.key === key.value)
}

const namesAtOnce = 500
/** From this number on, the list has a search field. */
const fewest = 8

export function Pick<T extends Named>(props: {
  readonly label: string
  readonly none: string
  /** Noun for the listed entries, in the singular. */
  readonly noun: string
  readonly picker: Picker<T>
}) {
  const { picker, label, none, noun } = props
  const all = picker.all.value
  const chosen = chosenIn(picker)
  return (
    <>
      {picker.fault.value !== '' && (
        <p class="failure" role="alert">
          {clean(picker.fault.value)}
        </p>
      )}
      {!all && picker.fault.value === '' && <p class="quiet">Loading from the server…</p>}
      {all?.length === 0 && <p class="quiet">{none}</p>}
      {all && all.length > 0 && <Choice all={all} picker={picker} label={label} noun={noun} />}
      {chosen && chosen.about !== '' && (
        <p class="quiet act-about">
          <Told key={chosen.key} text={chosen.about} />
        </p>
      )}
    </>
  )
}

function Choice<T extends Named>(props: {
  readonly all: readonly T[]
  readonly picker: Picker<T>
  readonly label: string
  readonly noun: string
}) {
  const { all, picker, label, noun } = props
  const { key, search } = picker
  const words = search.value.trim()
  const found = foundIn(all, words)
  const { shown, more } = useListed(found, namesAtOnce, noun)
  const chosen = shown.find((one) => one.key === key.value) ?? chosenIn(picker)
  const listed = chosen && !shown.includes(chosen) ? [chosen, ...shown] : shown
  return (
    <>
      <div class="act-pick">
        <label class="act-field">
          {label}
          <select
            aria-label={label}
            value={chosen?.key ?? ''}
            onChange={({ currentTarget }) => (key.value = currentTarget.value)}
          >
            {listed.map((one) => (
              <option key={one.key} value={one.key}>
                {nameOf(one.name)}
              </option>
            ))}
          </select>
        </label>
        {all.length >= fewest && (
          <input
            type="search"
            class="act-search"
            aria-label={`Search ${noun}s`}
            placeholder="Search"
            value={search.value}
            onInput={({ currentTarget }) => {
              search.value = currentTarget.value
              const [first] = foundIn(all, currentTarget.value)
              if (first && currentTarget.value.trim() !== '') key.value = first.key
            }}
          />
        )}
        <button type="button" class="button small" onClick={() => picker.load()}>
          Refresh
        </button>
      </div>
      {words !== '' && (
        <p class="quiet" role="status">
          {found.length} of {all.length} {noun}s contain “{clean(words)}”
        </p>
      )}
      {more}
    </>
  )
}

/** Entries that contain the words; those that have them in their name come first. */
function foundIn<T extends Named>(all: readonly T[], text: string): readonly T[] {
  const words = text.trim().toLowerCase()
  if (words === '') return all
  const named = all.filter(({ name }) => name.toLowerCase().includes(words))
  const others = all.filter(
    ({ name, about }) => !name.toLowerCase().includes(words) && about.toLowerCase().includes(words),
  )
  return [...named, ...others]
}
