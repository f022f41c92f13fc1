import { clean } from '../shell/clean.js'
import { isEmptyText, type Draft } from './form-draft.js'
import type { Field } from './form-shape.js'
import { nameOf, Told } from './told.js'

/** A field of a form, with what the user wrote in it. */
export interface FieldProps {
  readonly field: Field
  readonly draft: Draft | undefined
  /** JSON Pointer of the value. */
  readonly at: string
  readonly faults: ReadonlyMap<string, string>
  /** @param draft undefined if the value is not sent */
  readonly change: (draft: Draft | undefined) => void
  /** Ctrl+Enter */
  readonly submit: () => void
}

/** Title, description and limits of a field, and its problem. */
export function About(props: {
  readonly field: Field
  readonly draft: Draft | undefined
  readonly id: string
  readonly fault: string | undefined
}) {
  const { field, draft, id, fault } = props
  const { title, about, hints, name } = field
  return (
    <small class="act-hint" id={id}>
      {fault !== undefined && <span class="act-fault">{clean(fault)}</span>}
      {title !== '' && title !== name && <b>{nameOf(title)}</b>}
      {about !== '' && (
        <span class="quiet">
          <Told text={about} />
        </span>
      )}
      {hints !== '' && <span class="quiet act-limits">{nameOf(hints)}</span>}
      {isEmptyText(field, draft) && <span class="quiet act-limits">sent as empty text</span>}
    </small>
  )
}
