import { useEffect, useState } from 'preact/hooks'
import { clean } from '../shell/clean.js'
import { useListed } from './listed.js'
import { wordsOf } from './state.js'
import { nameOf, Told } from './told.js'

export interface Named {
  /** Unique in its list. */
  readonly key: string
  readonly name: string
  /** '' for nothing. */
  readonly about: string
}

/** A list of the server, requested once, from which the user chooses one element. */
export function usePick<T extends Named>(load: () => Promise<T[]>) {
  const [all, setAll] = useState<readonly T[] | undefined>(undefined)
  const [fault, setFault] = useState('')
  const [key, setKey] = useState('')
  const reload = (): void => {
    setFault('')
    load().then(
      (found) => {
        setAll(found)
        setKey((before) => (found.some((one) => one.key === before) ? before : (found[0]?.key ?? '')))
      },
      (error: unknown) => setFault(wordsOf(error)),
    )
  }
  useEffect(reload, [])
  return { all, fault, chosen: all?.find((one) => one.key === key), setKey, reload }
}

const namesAtOnce = 500

export function Pick<T extends Named>(props: {
  readonly label: string
  readonly none: string
  /** Noun for the listed entries, in the singular. */
  readonly noun: string
  readonly pick: ReturnType<typeof usePick<T>>
}) {
  const { all, fault, chosen, setKey, reload } = props.pick
  const { shown, more } = useListed(all ?? [], namesAtOnce, props.noun)
  return (
    <>
      {fault !== '' && (
        <p class="failure" role="alert">
          {clean(fault)}
        </p>
      )}
      {!all && fault === '' && <p class="quiet">Loading from the server…</p>}
      {all?.length === 0 && <p class="quiet">{props.none}</p>}
      {all && all.length > 0 && (
        <div class="act-pick">
          <label class="act-field">
            {props.label}
            <select
              aria-label={props.label}
              value={chosen?.key ?? ''}
              onChange={({ currentTarget }) => setKey(currentTarget.value)}
            >
              {shown.map((one) => (
                <option key={one.key} value={one.key}>
                  {nameOf(one.name)}
                </option>
              ))}
            </select>
          </label>
          <button type="button" class="button small" onClick={reload}>
            Refresh
          </button>
        </div>
      )}
      {more}
      {chosen && chosen.about !== '' && (
        <p class="quiet act-about">
          <Told key={chosen.key} text={chosen.about} />
        </p>
      )}
    </>
  )
}
