import { useId } from 'preact/hooks'
import { About, type FieldProps } from './field-about.js'
import { JsonField, Leaf } from './field-inputs.js'
import {
  draftOf,
  emptyGroup,
  escaped,
  isGroup,
  isJson,
  isList,
  jsonOf,
  startOf,
  type Draft,
  type GroupDraft,
} from './form-draft.js'
import type { Field } from './form-shape.js'
import { useListed } from './listed.js'
import { nameOf } from './told.js'

/** Fields of a group drawn at once, by depth. */
const fieldsAtOnce = [100, 20, 10]
const elementsAtOnce = 50

/** The fields of a whole form. */
export function Fields(props: Omit<FieldProps, 'change'> & { readonly change: (draft: Draft) => void }) {
  const { field, draft, change } = props
  if (isJson(draft))
    return <JsonField {...props} label="Arguments" change={(next) => change(next ?? draft)} />
  return (
    <Members {...props} draft={isGroup(draft) ? draft : emptyGroup(field)} change={(next) => change(next)} />
  )
}

function Members(
  props: Omit<FieldProps, 'draft' | 'change'> & {
    readonly draft: GroupDraft
    readonly change: (draft: GroupDraft) => void
  },
) {
  const { field, draft, at, faults, change, submit } = props
  const all = field.shape.kind === 'group' ? field.shape.fields : []
  const { shown, more } = useListed(all, fieldsAtOnce[field.depth] ?? 10, 'field')
  const changeOne = (name: string, next: Draft | undefined): void => {
    const members = new Map(draft.members)
    if (next === undefined) members.delete(name)
    else members.set(name, next)
    change({ ...draft, members })
  }
  return (
    <>
      {shown.map((one) => (
        <Any
          key={one.name}
          field={one}
          draft={draft.members.get(one.name)}
          at={`${at}/${escaped(one.name)}`}
          faults={faults}
          change={(next) => changeOne(one.name, next)}
          submit={submit}
        />
      ))}
      {more}
      {draft.others.length > 0 && (
        <p class="quiet act-others">
          Also sent, not in the schema: <code>{nameOf(draft.others.join(', '))}</code>{' '}
          <button type="button" class="bare more" onClick={() => change({ ...draft, others: [] })}>
            Remove
          </button>
        </p>
      )}
    </>
  )
}

function Any(props: FieldProps & { readonly label?: string; readonly remove?: () => void }) {
  const { field, draft } = props
  const label = props.label ?? labelOf(field)
  const { kind } = field.shape
  if (kind === 'list' || kind === 'group') return <Parts {...props} label={label} />
  return isJson(draft) ? <JsonField {...props} label={label} /> : <Leaf {...props} label={label} />
}

function labelOf({ name, required }: Field): string {
  return `${nameOf(name)}${required ? ' (required)' : ''}`
}

/** A list or group: its parts, or its JSON. */
function Parts(props: FieldProps & { readonly label: string; readonly remove?: () => void }) {
  const { field, draft, at, faults, change, label, remove } = props
  const id = useId()
  const fault = faults.get(at)
  const isSent = draft !== undefined && draft !== ''
  const asJson = (): void => change({ json: jsonOf(field, draft, at, new Map()) ?? '' })
  const asFields = (text: string): void => {
    const filled = text.trim() === '' ? startAnew(field) : safeDraft(field, text)
    if (filled) change(filled)
  }
  return (
    <fieldset class={`act-parts ${fault === undefined ? '' : 'is-invalid'}`} aria-describedby={id}>
      <legend>
        {label}
        {isSent && (
          <button
            type="button"
            class="bare more"
            aria-label={`${label} ${isJson(draft) ? 'as fields' : 'as JSON'}`}
            onClick={() => (isJson(draft) ? asFields(draft.json) : asJson())}
          >
            {isJson(draft) ? 'as fields' : 'as JSON'}
          </button>
        )}
        {(remove ?? (isSent && !field.required)) && (
          <button
            type="button"
            class="bare more"
            aria-label={`Remove ${label}`}
            onClick={remove ?? (() => change(undefined))}
          >
            Remove
          </button>
        )}
      </legend>
      <About field={field} draft={draft} id={id} fault={fault} />
      {isJson(draft) ? (
        <JsonField {...props} label={label} isPlain />
      ) : field.shape.kind === 'list' ? (
        <Elements {...props} label={label} />
      ) : isGroup(draft) ? (
        <Members {...props} draft={draft} change={change} />
      ) : (
        <button type="button" class="button small" onClick={() => change(startAnew(field))}>
          Add {label}
        </button>
      )}
    </fieldset>
  )
}

function startAnew(field: Field): Draft {
  return field.shape.kind === 'group' ? emptyGroup(field) : { elements: [] }
}

/** Undefined while the text is not JSON, or is no such list or group. */
function safeDraft(field: Field, text: string): Draft | undefined {
  const found = new Map<string, string>()
  const exact = jsonOf(field, { json: text }, '', found)
  const draft = exact === undefined || found.size > 0 ? undefined : draftOf(field, exact)
  return isJson(draft) ? undefined : draft
}

function Elements(props: FieldProps & { readonly label: string }) {
  const { field, draft, at, faults, change, submit, label } = props
  const elements = isList(draft) ? draft.elements : []
  const { shown, more } = useListed(elements, elementsAtOnce, 'element')
  if (field.shape.kind !== 'list') return null
  const { element } = field.shape
  const name = nameOf(field.name) || 'element'
  const hasParts = element.shape.kind === 'list' || element.shape.kind === 'group'
  const removeAt = (i: number): void => change({ elements: elements.toSpliced(i, 1) })
  return (
    <>
      {shown.map((one, i) => (
        <div key={i} class="act-element">
          <Any
            field={element}
            label={`${name} ${i + 1}`}
            draft={one}
            at={`${at}/${i}`}
            faults={faults}
            change={(next) => change({ elements: elements.with(i, next) })}
            submit={submit}
            {...(hasParts && { remove: () => removeAt(i) })}
          />
          {!hasParts && (
            <button
              type="button"
              class="button small"
              aria-label={`Remove ${name} ${i + 1}`}
              onClick={() => removeAt(i)}
            >
              Remove
            </button>
          )}
        </div>
      ))}
      {more}
      <button
        type="button"
        class="button small"
        aria-label={`Add an element to ${label}`}
        onClick={() => change({ elements: [...elements, startOf(element)] })}
      >
        Add
      </button>
    </>
  )
}
