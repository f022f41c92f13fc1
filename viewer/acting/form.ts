import { signal, type ReadonlySignal } from '@preact/signals'
import { indentJson } from '../../src/render/index.js'
import { findJsonValue, isFault } from '../../src/wire/index.js'
import {
  checkFormats,
  checkValue,
  draftOf,
  emptyGroup,
  jsonOf,
  type Draft,
  type Faults,
} from './form-draft.js'
import { formOf, type Field } from './form-shape.js'

/** A JSON object that the user fills in, in fields or as JSON. */
export interface Form {
  readonly field: Field
  readonly schema: unknown
  readonly draft: ReadonlySignal<Draft>
  /** The text while the user edits JSON. */
  readonly json: ReadonlySignal<string | undefined>
  /** Problems by JSON Pointer, once the user has tried to send the form. */
  readonly faults: ReadonlySignal<ReadonlyMap<string, string>>
  /** Whether the values can be sent in spite of their problems. */
  readonly canForce: ReadonlySignal<boolean>
  change(draft: Draft): void
  changeJson(text: string): void
  /** Switches between fields and JSON. */
  toggle(): void
  /** Fills the form. @param text exact JSON of an object */
  fill(text: string): void
  /**
   * Exact JSON text of the object; undefined if the user must change something first.
   *
   * @param isForced ignores the schema
   */
  read(isForced?: boolean): string | undefined
}

/** @param schema of a server, which may be anything */
export function createForm(schema: unknown): Form {
  const field = formOf(schema)
  const draft = signal<Draft>(emptyGroup(field))
  const json = signal<string | undefined>(undefined)
  const faults = signal<ReadonlyMap<string, string>>(new Map())
  const canForce = signal(false)
  let tried = false

  /** The text in spite of problems with the schema; undefined if there is none. */
  function look(): string | undefined {
    const found: Faults = new Map()
    const text =
      json.value === undefined ? jsonOf(field, draft.value, '', found) : objectOf(json.value, found)
    const isWritten = [...found.values()].every((one) => one === 'is required')
    if (text !== undefined && isWritten && json.value === undefined) {
      checkFormats(field, draft.value, '', found)
      checkValue(field, schema, text, found)
    }
    faults.value = found
    canForce.value = found.size > 0 && isWritten && text !== undefined
    return isWritten ? text : undefined
  }

  function lookAgain(): void {
    if (tried) look()
  }

  return {
    field,
    schema,
    draft,
    json,
    faults,
    canForce,
    change(next) {
      draft.value = next
      lookAgain()
    },
    changeJson(text) {
      json.value = text
      lookAgain()
    },
    toggle() {
      tried = false
      faults.value = new Map()
      canForce.value = false
      if (json.value === undefined) {
        json.value = indentJson(jsonOf(field, draft.value, '', new Map()) ?? '{}')
        return
      }
      const text = objectOf(json.value, new Map())
      if (text !== undefined) draft.value = draftOf(field, text)
      json.value = undefined
    },
    fill(text) {
      tried = false
      faults.value = new Map()
      canForce.value = false
      json.value = undefined
      draft.value = draftOf(field, text)
    },
    read(isForced = false) {
      tried = true
      const text = look()
      return isForced || faults.value.size === 0 ? text : undefined
    },
  }
}

function objectOf(text: string, faults: Faults): string | undefined {
  const found = findJsonValue(text)
  if (!isFault(found) && text[found.start] === '{') return text.slice(found.start, found.end)
  faults.set('', isFault(found) ? 'the text is not valid JSON' : 'the text must be a JSON object')
  return undefined
}
