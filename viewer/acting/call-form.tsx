import { useEffect, useState } from 'preact/hooks'
import { formatDuration } from '../../src/render/index.js'
import { clean } from '../shell/clean.js'
import { FormBox } from './form-box.js'
import { contentOf } from './row-forms.js'
import { channel, wordsOf } from './state.js'

interface Property {
  readonly type?: string | readonly string[]
  readonly title?: string
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly default?: unknown
}

interface Tool {
  readonly name: string
  readonly description?: string
  readonly inputSchema?: {
    readonly properties?: Readonly<Record<string, Property>>
    readonly required?: readonly string[]
  }
}

/** Pages of the server's list. */
const mostPages = 50

let made = 0

/** Sends a request into the connection of the live client, which sees neither it nor its answer. */
async function ask(method: string, params: unknown): Promise<{ answer: string; latencyMs?: number }> {
  made += 1
  const id = `wiretape-ui-${Date.now().toString(36)}-${made}`
  const text = JSON.stringify({ jsonrpc: '2.0', id, method, params })
  const result = await channel.value?.send({ type: 'inject', direction: 'client_to_server', text })
  if (result?.answer === undefined) throw new Error('no answer came')
  const { answer, latencyMs } = result
  return { answer, ...(latencyMs !== undefined && { latencyMs }) }
}

async function listTools(): Promise<Tool[]> {
  const tools: Tool[] = []
  let cursor: string | undefined
  for (let page = 0; page < mostPages; page += 1) {
    const { answer } = await ask('tools/list', cursor === undefined ? {} : { cursor })
    const { result, error } = JSON.parse(answer) as {
      readonly result?: { readonly tools?: readonly Tool[]; readonly nextCursor?: string }
      readonly error?: { readonly message?: string }
    }
    if (!Array.isArray(result?.tools)) throw new Error(error?.message ?? 'the server lists no tools')
    tools.push(...result.tools)
    cursor = result.nextCursor
    if (cursor === undefined) break
  }
  return tools
}

/** A form of the tool's arguments, made of its inputSchema. */
export function CallForm() {
  const [tools, setTools] = useState<readonly Tool[] | undefined>(undefined)
  const [name, setName] = useState('')
  const [fault, setFault] = useState('')
  useEffect(() => {
    listTools().then(
      (all) => {
        setTools(all)
        setName(all[0]?.name ?? '')
      },
      (error: unknown) => setFault(wordsOf(error)),
    )
  }, [])
  const tool = tools?.find((one) => one.name === name)
  return (
    <FormBox title="Call a tool">
      <p class="failure" role="alert">
        {clean(fault)}
      </p>
      {!tools && fault === '' && <p class="quiet">Asking the server for its tools…</p>}
      {tools?.length === 0 && <p class="quiet">The server has no tools.</p>}
      {tools && tools.length > 0 && (
        <label class="act-field">
          Tool
          <select
            aria-label="Tool"
            value={name}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          >
            {tools.map((one) => (
              <option key={one.name} value={one.name}>
                {clean(one.name)}
              </option>
            ))}
          </select>
        </label>
      )}
      {tool && <Arguments key={tool.name} tool={tool} />}
    </FormBox>
  )
}

function Arguments({ tool }: { readonly tool: Tool }) {
  const properties = Object.entries(tool.inputSchema?.properties ?? {})
  const required = new Set(tool.inputSchema?.required ?? [])
  const [values, setValues] = useState<Readonly<Record<string, string>>>(() => startOf(properties))
  const [fault, setFault] = useState('')
  const [said, setSaid] = useState<{ answer: string; latencyMs?: number } | undefined>(undefined)
  const [busy, setBusy] = useState(false)
  const call = async (): Promise<void> => {
    const read = argumentsOf(properties, required, values)
    setFault('fault' in read ? read.fault : '')
    setSaid(undefined)
    if ('fault' in read) return
    setBusy(true)
    try {
      setSaid(await ask('tools/call', { name: tool.name, arguments: read.arguments }))
    } catch (error) {
      setFault(wordsOf(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void call()
      }}
    >
      {tool.description !== undefined && <p class="quiet">{clean(tool.description)}</p>}
      {properties.map(([key, property]) => (
        <Field
          key={key}
          name={key}
          property={property}
          required={required.has(key)}
          value={values[key] ?? ''}
          change={(value) => setValues({ ...values, [key]: value })}
        />
      ))}
      <p class="failure" role="alert">
        {clean(fault)}
      </p>
      <button type="submit" class="button primary" disabled={busy}>
        Call
      </button>
      {said && (
        <section class="act-answers" aria-label="Answer" aria-live="polite">
          <h3>
            answered
            {said.latencyMs !== undefined && ` after ${formatDuration(said.latencyMs * 1000)}`}
          </h3>
          <pre class="act-json">{contentOf(said.answer)}</pre>
        </section>
      )}
    </form>
  )
}

function Field(props: {
  readonly name: string
  readonly property: Property
  readonly required: boolean
  readonly value: string
  readonly change: (value: string) => void
}) {
  const { property, value, change } = props
  const type = typeOf(property)
  const label = clean(`${props.name}${props.required ? ' (required)' : ''}`)
  return (
    <label class="act-field">
      {label}
      {property.enum || type === 'boolean' ? (
        <select
          aria-label={label}
          value={value}
          onChange={({ currentTarget }) => change(currentTarget.value)}
        >
          <option value="">not sent</option>
          {(property.enum ?? [true, false]).map((one) => (
            <option key={JSON.stringify(one)} value={JSON.stringify(one)}>
              {typeof one === 'string' ? clean(one) : JSON.stringify(one)}
            </option>
          ))}
        </select>
      ) : type === 'string' || type === 'number' || type === 'integer' ? (
        <input
          type="text"
          aria-label={label}
          inputMode={type === 'string' ? 'text' : 'decimal'}
          value={value}
          onInput={({ currentTarget }) => change(currentTarget.value)}
        />
      ) : (
        <textarea
          class="act-text"
          rows={3}
          aria-label={label}
          placeholder="JSON"
          value={value}
          onInput={({ currentTarget }) => change(currentTarget.value)}
        />
      )}
      {property.description !== undefined && <small class="quiet">{clean(property.description)}</small>}
    </label>
  )
}

function typeOf({ type }: Property): string {
  if (typeof type === 'string') return type
  return type?.find((one) => one !== 'null') ?? 'any'
}

function startOf(properties: readonly (readonly [string, Property])[]): Record<string, string> {
  return Object.fromEntries(
    properties.flatMap(([key, property]) => {
      if (property.default === undefined) return []
      const { default: value } = property
      const isPlain = typeof value === 'string' && typeOf(property) === 'string' && !property.enum
      return [[key, isPlain ? value : JSON.stringify(value)]]
    }),
  )
}

/** What is left empty is not sent. */
function argumentsOf(
  properties: readonly (readonly [string, Property])[],
  required: ReadonlySet<string>,
  values: Readonly<Record<string, string>>,
): { readonly arguments: Readonly<Record<string, unknown>> } | { readonly fault: string } {
  const entries: [string, unknown][] = []
  for (const [key, property] of properties) {
    const text = values[key] ?? ''
    const type = typeOf(property)
    const isText = type === 'string' && !property.enum
    if (text.trim() === '' && !(isText && required.has(key))) {
      if (required.has(key)) return { fault: `${key} is required` }
      continue
    }
    if (isText) entries.push([key, text])
    else {
      const value = parsed(text)
      if (value === undefined) return { fault: `${key} is not JSON` }
      if ((type === 'number' || type === 'integer') && typeof value !== 'number')
        return { fault: `${key} is not a number` }
      entries.push([key, value])
    }
  }
  return { arguments: Object.fromEntries(entries) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
