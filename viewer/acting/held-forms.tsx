import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { CommandBody, HeldEvent } from '../../src/control-schema/index.js'
import { indentJson } from '../../src/render/index.js'
import { readWritten } from '../../src/wire/index.js'
import type { SchemaOf } from '../editor/editor.js'
import { clean } from '../shell/clean.js'
import { FormBox } from './form-box.js'
import { argumentsAt, useCalledSchema } from './called-schema.js'
import { JsonArea } from './json-area.js'
import { act, channel, form, gate, wordsOf } from './state.js'
import { Unseen } from './told.js'

/** A text that a button or Ctrl+Enter sends. Errors are shown below. */
export function TextForm(props: {
  readonly label: string
  readonly start: string
  readonly verb: string
  readonly rows?: number
  /** Schema of the called tool's arguments. The text is JSON; null if any JSON is valid. */
  readonly schema?: SchemaOf | null
  /** Beside the button. */
  readonly children?: ComponentChildren
  /** Returns an error, or undefined on success. */
  readonly submit: (text: string) => Promise<string | undefined> | string | undefined
}) {
  const [text, setText] = useState(props.start)
  const { submit, isBusy, fault, setFault } = useSubmit(() => props.submit(text))
  const change = (written: string): void => {
    setText(written)
    setFault(undefined)
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      {props.schema !== undefined ? (
        <JsonArea
          label={props.label}
          value={text}
          rows={props.rows ?? 14}
          invalid={Boolean(fault)}
          schema={props.schema ?? undefined}
          schemaAt={argumentsAt}
          change={change}
          submit={() => void submit()}
        />
      ) : (
        <textarea
          class="act-text"
          rows={props.rows ?? 14}
          aria-label={props.label}
          aria-invalid={Boolean(fault)}
          spellcheck={false}
          value={text}
          onInput={({ currentTarget }) => change(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void submit()
          }}
        />
      )}
      {props.schema === undefined && <Unseen text={text} />}
      <p class="failure" role="alert">
        {clean(fault ?? '')}
      </p>
      <p class="act-run">
        <button type="submit" class="button primary" disabled={isBusy}>
          {props.verb}
        </button>
        {props.children}
      </p>
    </form>
  )
}

/** Runs `send` for one submission at a time, and closes the form on success. */
function useSubmit(send: () => Promise<string | undefined> | string | undefined) {
  const [fault, setFault] = useState<string | undefined>(undefined)
  const [isBusy, setIsBusy] = useState(false)
  /** Set before the next drawing: two key presses may come in between. */
  const isSubmitting = useRef(false)
  const submit = async (): Promise<void> => {
    if (isSubmitting.current) return
    isSubmitting.current = true
    setIsBusy(true)
    try {
      const why = await send()
      setFault(why)
      if (why === undefined) form.value = undefined
    } finally {
      isSubmitting.current = false
      setIsBusy(false)
    }
  }
  return { submit, isBusy, fault, setFault }
}

/** Sends a command of a form. Returns the error, if any. */
export async function tried(command: CommandBody): Promise<string | undefined> {
  try {
    await channel.value?.send(command)
    return undefined
  } catch (error) {
    return wordsOf(error)
  }
}

export function EditForm({ held: { message, text: original } }: { readonly held: HeldEvent }) {
  const schema = useCalledSchema()
  if (schema === undefined) return null
  return (
    <FormBox title="Edit the held message">
      <TextForm
        label="Message as JSON"
        schema={schema}
        start={indentJson(original)}
        verb="Forward"
        submit={(written) => {
          const read = readWritten(written, 'message')
          if ('fault' in read) return read.fault
          const { text } = read
          // If only white space differs, the original bytes are forwarded.
          const isSame = indentJson(text) === indentJson(original)
          return tried(isSame ? { type: 'forward', message } : { type: 'edit', message, text })
        }}
      />
    </FormBox>
  )
}

export function AnswerForm({ held: { message } }: { readonly held: HeldEvent }) {
  return (
    <FormBox title="Answer the held request">
      <TextForm
        label="Response as JSON: result or error"
        schema={null}
        start={'{\n  "result": {\n    "content": [{ "type": "text", "text": "" }]\n  }\n}'}
        verb="Answer"
        submit={(written) => {
          const read = readWritten(written, 'answer')
          if ('fault' in read) return read.fault
          const { text: _, ...answer } = read
          return tried({ type: 'answer', message, ...answer })
        }}
      />
    </FormBox>
  )
}

export function BreakForm() {
  const set = gate.value?.breakpoints ?? []
  return (
    <FormBox title="Hold only messages that match a filter">
      <TextForm
        label="Hold only messages that match this filter; empty for no breakpoint"
        start={set.join(' or ')}
        verb="Set"
        rows={2}
        submit={async (written) => {
          const text = written.trim()
          const filters = text === '' ? [] : [text]
          // Without breakpoints, everything would be held.
          if (filters.length === 0 && set.length > 0 && gate.value?.hold)
            await act({ type: 'hold', on: false })
          const fault = await tried({ type: 'breakpoints', filters })
          // Setting a breakpoint also turns holding on.
          if (fault === undefined && filters.length > 0 && !gate.value?.hold)
            await act({ type: 'hold', on: true })
          return fault
        }}
      />
    </FormBox>
  )
}
