import { useEffect, useId, useState } from 'preact/hooks'
import { clean } from '../shell/clean.js'
import { complete } from './peer.js'
import { nameOf, Told, Unseen } from './told.js'

/** Delay after a key before the server is asked. */
const pauseMs = 150

/** A field with completions from the server, requested while the user types. */
export function CompletedField(props: {
  readonly name: string
  readonly required: boolean
  /** '' for nothing. */
  readonly about: string
  /** A prompt or resource template. */
  readonly reference: unknown
  readonly values: Readonly<Record<string, string>>
  readonly change: (values: Readonly<Record<string, string>>) => void
}) {
  const { name, values, reference } = props
  const list = useId()
  const [known, setKnown] = useState<readonly string[]>([])
  const value = values[name] ?? ''
  useEffect(() => {
    let isGone = false
    const timer = setTimeout(() => {
      const { [name]: _, ...others } = values
      void complete(reference, name, value, others).then((found) => {
        if (!isGone) setKnown(found)
      })
    }, pauseMs)
    return () => {
      isGone = true
      clearTimeout(timer)
    }
  }, [name, value])
  const label = `${nameOf(name)}${props.required ? ' (required)' : ''}`
  return (
    <label class="act-field">
      {label}
      <input
        type="text"
        aria-label={label}
        list={list}
        required={props.required}
        value={value}
        onInput={({ currentTarget }) => props.change({ ...values, [name]: currentTarget.value })}
      />
      <datalist id={list}>
        {known.map((one) => (
          <option key={one} value={one} label={clean(one) === one ? undefined : nameOf(one)} />
        ))}
      </datalist>
      <Unseen text={value} />
      {props.about !== '' && (
        <small class="quiet">
          <Told text={props.about} />
        </small>
      )}
    </label>
  )
}
