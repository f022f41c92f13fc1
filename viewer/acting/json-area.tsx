import { useEffect, useRef, useState } from 'preact/hooks'
import type { EditorParts, MakeEditor, SchemaOf } from '../editor/editor.js'

interface Props {
  readonly label: string
  /** The initial text, and later the last one passed to `change`. */
  readonly value: string
  readonly change: (value: string) => void
  readonly rows: number
  /** For completion and errors. */
  readonly schema?: SchemaOf | undefined
  /** Pointer to the part of the text that the schema describes. @default '' */
  readonly schemaAt?: string
  readonly invalid?: boolean
  /** Ctrl+Enter */
  readonly submit: () => void
}

let loading: Promise<MakeEditor | undefined> | undefined

/** The editor is a separate script: it is as large as the rest of the page. */
function loadEditor(): Promise<MakeEditor | undefined> {
  loading ??= new Promise((resolve) => {
    const script = document.createElement('script')
    script.src = './editor.js'
    const { wiretapeEditor: known } = globalThis as { wiretapeEditor?: MakeEditor }
    if (known) return resolve(known)
    script.addEventListener('load', () =>
      resolve((globalThis as { wiretapeEditor?: MakeEditor }).wiretapeEditor),
    )
    script.addEventListener('error', () => resolve(undefined))
    document.head.append(script)
  })
  return loading
}

/** A JSON input: a plain field until the editor has loaded. From then on, only the user changes the text. */
export function JsonArea(props: Props) {
  const { label, value, rows, invalid = false } = props
  const place = useRef<HTMLDivElement>(null)
  const editor = useRef<EditorParts | undefined>(undefined)
  const latest = useRef(props)
  latest.current = props
  const [ready, setReady] = useState(false)
  useEffect(() => {
    let isGone = false
    void loadEditor().then((make) => {
      if (isGone || !make || !place.current) return
      editor.current = make({
        parent: place.current,
        label,
        text: latest.current.value,
        rows,
        schema: latest.current.schema ?? (() => undefined),
        schemaAt: latest.current.schemaAt ?? '',
        changed: (text) => latest.current.change(text),
        submit: () => latest.current.submit(),
      })
      setReady(true)
    })
    return () => {
      isGone = true
      editor.current?.close()
    }
  }, [])
  return (
    <>
      <div ref={place} class={`act-editor ${invalid ? 'is-invalid' : ''}`} hidden={!ready} />
      {!ready && (
        <textarea
          class="act-text"
          rows={rows}
          aria-label={label}
          aria-invalid={invalid}
          spellcheck={false}
          value={value}
          onInput={({ currentTarget }) => props.change(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) props.submit()
          }}
        />
      )}
    </>
  )
}
