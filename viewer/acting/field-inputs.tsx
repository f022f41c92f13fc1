import { useEffect, useId, useRef } from 'preact/hooks'
import { About, type FieldProps } from './field-about.js'
import { isJson, type Draft } from './form-draft.js'
import type { Choice, Field } from './form-shape.js'
import { useListed } from './listed.js'
import { nameOf, Unseen } from './told.js'

const choicesAtOnce = 500
/** Pixels a text may grow to. */
const tallest = 320

interface Props extends FieldProps {
  readonly label: string
}

/** One value: a choice, a text, a number, or JSON where the schema says no more. */
export function Leaf(props: Props) {
  const { field, at, faults, change, label } = props
  const { shape } = field
  const id = useId()
  const fault = faults.get(at)
  const text = typeof props.draft === 'string' ? props.draft : ''
  const input = {
    label,
    text,
    describedBy: id,
    isInvalid: fault !== undefined,
    change: (next: string) => change(next),
    submit: props.submit,
  }
  const isText = shape.kind === 'text' || shape.kind === 'json'
  return (
    <label class={`act-field ${fault === undefined ? '' : 'is-invalid'}`}>
      {label}
      {shape.kind === 'choice' ? (
        <Choose {...input} choices={shape.choices} field={field} />
      ) : shape.kind === 'number' ? (
        <Line {...input} keyboard="decimal" />
      ) : shape.kind === 'text' && lineFormats.has(shape.format) && !text.includes('\n') ? (
        <FormattedLine {...input} format={shape.format} />
      ) : (
        <GrowingText
          {...input}
          isJson={shape.kind !== 'text'}
          isLine={shape.kind === 'text' && !shape.isLong && !text.includes('\n')}
        />
      )}
      {isText && <Unseen text={text} />}
      <About field={field} draft={props.draft} id={id} fault={fault} />
    </label>
  )
}

interface Input {
  readonly label: string
  readonly text: string
  readonly describedBy: string
  readonly isInvalid: boolean
  readonly change: (text: string) => void
  readonly submit: () => void
}

function Choose(props: Input & { readonly choices: readonly Choice[]; readonly field: Field }) {
  const { label, text, choices, field } = props
  const { shown, more } = useListed(choices, choicesAtOnce, 'choice')
  return (
    <>
      <select
        aria-label={label}
        aria-describedby={props.describedBy}
        aria-invalid={props.isInvalid}
        value={text}
        onChange={({ currentTarget }) => props.change(currentTarget.value)}
      >
        <option value="">{field.required && field.isNullable ? 'null' : 'not sent'}</option>
        {shown.map(({ json, title }, i) => (
          <option key={i} value={json}>
            {nameOf(title)}
          </option>
        ))}
      </select>
      {more}
    </>
  )
}

/** Formats of texts without line breaks. */
const lineFormats: ReadonlySet<string> = new Set(['date', 'date-time', 'email', 'time', 'uri', 'uuid'])

function FormattedLine(props: Input & { readonly format: string }) {
  const { format, text } = props
  const isDate = format === 'date' && (text === '' || /^\d{4}-\d\d-\d\d$/.test(text))
  if (isDate) return <input type="date" {...inputOf(props)} />
  const keyboard = format === 'email' ? 'email' : format === 'uri' ? 'url' : 'text'
  const placeholder = format === 'date-time' ? '2026-08-01T10:00:00Z' : undefined
  return <Line {...props} keyboard={keyboard} placeholder={placeholder} />
}

function Line(
  props: Input & {
    readonly keyboard: 'decimal' | 'email' | 'url' | 'text'
    readonly placeholder?: string | undefined
  },
) {
  return (
    <input
      type="text"
      {...inputOf(props)}
      inputMode={props.keyboard}
      placeholder={props.placeholder}
      autocomplete="off"
      spellcheck={false}
    />
  )
}

function inputOf({ label, text, describedBy, isInvalid, change }: Input) {
  return {
    'aria-label': label,
    'aria-describedby': describedBy,
    'aria-invalid': isInvalid,
    value: text,
    onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => change(currentTarget.value),
  }
}

/** A text as tall as it needs to be. On one line, Enter submits the form and Shift+Enter begins another line. */
function GrowingText(props: Input & { readonly isJson: boolean; readonly isLine?: boolean }) {
  const { label, text, isJson, isLine = false } = props
  const area = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    const { current } = area
    if (!current) return
    current.style.height = 'auto'
    current.style.height = `${Math.min(tallest, current.scrollHeight + 2)}px`
  }, [text, isLine])
  return (
    <textarea
      ref={area}
      class={`act-text ${isJson ? '' : 'is-prose'}`}
      rows={isLine ? 1 : isJson ? 2 : 3}
      aria-label={label}
      aria-describedby={props.describedBy}
      aria-invalid={props.isInvalid}
      placeholder={isJson ? 'JSON' : undefined}
      spellcheck={false}
      value={text}
      onInput={({ currentTarget }) => props.change(currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || event.isComposing || event.shiftKey) return
        if (!isLine && !event.ctrlKey && !event.metaKey) return
        event.preventDefault()
        props.submit()
      }}
    />
  )
}

/** A value as JSON. @param isPlain its name and description are shown elsewhere */
export function JsonField(props: Props & { readonly isPlain?: boolean }) {
  const { field, draft, at, faults, change, label, isPlain = false } = props
  const id = useId()
  const inside = [...faults].find(([place]) => place === at || place.startsWith(`${at}/`))
  const fault = inside && (inside[0] === at ? inside[1] : `${inside[0].slice(at.length + 1)} ${inside[1]}`)
  const text = isJson(draft) ? draft.json : ''
  const asField = (next: string): Draft | undefined => (next === '' ? undefined : { json: next })
  return (
    <label class={`act-field ${fault === undefined ? '' : 'is-invalid'}`}>
      {!isPlain && `${label}, as JSON`}
      <GrowingText
        label={`${label}, as JSON`}
        text={text}
        describedBy={id}
        isInvalid={fault !== undefined}
        isJson
        change={(next) => change(isPlain ? { json: next } : asField(next))}
        submit={props.submit}
      />
      <Unseen text={text} />
      {isPlain ? (
        <span id={id}>{fault}</span>
      ) : (
        <About field={field} draft={props.draft} id={id} fault={fault} />
      )}
    </label>
  )
}
