import { useEffect } from 'preact/hooks'
import { loadedEngine } from '../patterns/loaded.js'
import { clean } from '../shell/clean.js'
import { Fields } from './fields.js'
import type { Form } from './form.js'
import { isGroup } from './form-draft.js'
import { JsonArea } from './json-area.js'
import { nameOf } from './told.js'

const mostNamed = 5

/** The fields of a form, or its JSON, and what must be changed before it is sent. */
export function SchemaForm(props: {
  readonly form: Form
  /** Of the JSON. */
  readonly label: string
  /** For a schema without properties. */
  readonly none: string
  readonly submit: () => void
}) {
  const { form, label, none, submit } = props
  const { field, draft, json, faults } = form
  useEffect(() => {
    // The engine for patterns is a script of its own.
    if (JSON.stringify(form.schema ?? null).includes('"pattern')) loadedEngine()
  }, [form])
  const isEmpty = field.shape.kind === 'group' && field.shape.fields.length === 0
  return (
    <>
      {json.value === undefined ? (
        <Fields
          field={field}
          draft={draft.value}
          at=""
          faults={faults.value}
          change={(next) => form.change(next)}
          submit={submit}
        />
      ) : (
        <JsonArea
          label={label}
          value={json.value}
          change={(text) => form.changeJson(text)}
          rows={8}
          schema={() => form.schema}
          submit={submit}
        />
      )}
      {isEmpty && json.value === undefined && isGroup(draft.value) && <p class="quiet">{none}</p>}
      <p class="failure" role="alert">
        {faultWords(faults.value)}
      </p>
    </>
  )
}

/** Switches a form between fields and JSON. */
export function JsonSwitch({ form }: { readonly form: Form }) {
  const isJson = form.json.value !== undefined
  return (
    <button type="button" class="button" aria-pressed={isJson} onClick={() => form.toggle()}>
      {isJson ? 'Edit in the form' : 'Edit as JSON'}
    </button>
  )
}

/** Sends a form that its schema refuses. */
export function ForceButton(props: {
  readonly form: Form
  readonly verb: string
  readonly send: () => void
}) {
  if (!props.form.canForce.value) return null
  return (
    <button
      type="button"
      class="button"
      title="Send the values although they do not match the schema"
      onClick={props.send}
    >
      {props.verb} anyway
    </button>
  )
}

/** `message is required; steps.0 is not a number` */
function faultWords(faults: ReadonlyMap<string, string>): string {
  const words = [...faults]
    .slice(0, mostNamed)
    .map(([at, problem]) => (at === '' ? clean(problem) : `${nameOf(dotted(at))} ${clean(problem)}`))
  return words.join('; ') + (faults.size > mostNamed ? `; and ${faults.size - mostNamed} more` : '')
}

function dotted(pointer: string): string {
  return pointer.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')
}
