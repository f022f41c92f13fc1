import { useState } from 'preact/hooks'
import { clean } from '../shell/clean.js'
import { Boundary } from './boundary.js'
import { argumentsOf, Fields, schemaIn, startOf, type ObjectSchema } from './fields.js'
import { JsonArea } from './json-area.js'
import { listOf } from './peer.js'
import { Pick, usePick } from './pick.js'
import { RunBox, useRun } from './run.js'
import { textIn } from './values.js'

/** As a server lists it. */
interface Tool {
  readonly name?: unknown
  readonly description?: unknown
  readonly inputSchema?: unknown
}

/** A form for each tool's arguments, built from its inputSchema. */
export function ToolsTab() {
  const pick = usePick(async () => {
    const tools = await listOf<Tool>('tools/list', 'tools')
    return tools.map((tool) => ({
      key: textIn(tool.name),
      name: textIn(tool.name),
      about: textIn(tool.description),
      tool,
    }))
  })
  return (
    <>
      <Pick label="Tool" none="The server has no tools." noun="tool" pick={pick} />
      {pick.chosen && (
        <Boundary key={pick.chosen.key}>
          <ToolForm tool={pick.chosen.tool} />
        </Boundary>
      )}
    </>
  )
}

function ToolForm({ tool }: { readonly tool: Tool }) {
  const schema = schemaIn(tool.inputSchema)
  const { properties, required } = schema
  const [values, setValues] = useState<Readonly<Record<string, string>>>(() => startOf(properties))
  /** Arguments as text while the user edits JSON. */
  const [json, setJson] = useState<string | undefined>(undefined)
  const [fault, setFault] = useState('')
  const run = useRun()
  const written = (): { readonly text: string } | { readonly fault: string } =>
    json === undefined ? argumentsOf(properties, required, values) : { text: json }
  const call = async (): Promise<void> => {
    const read = written()
    const why = 'fault' in read ? read.fault : whyNoObject(read.text)
    setFault(why)
    if (why !== '' || 'fault' in read) return
    await run.start('tools/call', `{"name":${JSON.stringify(tool.name)},"arguments":${read.text.trim()}}`)
  }
  const toggle = (): void => {
    setFault('')
    if (json !== undefined) {
      setValues(valuesOf(json, properties) ?? values)
      setJson(undefined)
      return
    }
    const read = argumentsOf(properties, new Set(), values)
    setJson('text' in read ? JSON.stringify(JSON.parse(read.text), null, 2) : '{}')
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void call()
      }}
    >
      {json === undefined ? (
        <Fields schema={schema} values={values} change={setValues} />
      ) : (
        <JsonArea
          label="Arguments as JSON"
          value={json}
          change={setJson}
          rows={8}
          schema={tool.inputSchema}
          submit={() => void call()}
        />
      )}
      {properties.length === 0 && json === undefined && <p class="quiet">This tool takes no arguments.</p>}
      <p class="failure" role="alert">
        {clean(fault)}
      </p>
      <RunBox run={run} verb="Call">
        <button type="button" class="button" aria-pressed={json !== undefined} onClick={toggle}>
          {json === undefined ? 'Edit as JSON' : 'Edit in the form'}
        </button>
      </RunBox>
    </form>
  )
}

function whyNoObject(text: string): string {
  try {
    const value = JSON.parse(text) as unknown
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? ''
      : 'the arguments must be a JSON object'
  } catch {
    return 'the arguments are not valid JSON'
  }
}

/** The form values for JSON arguments; undefined if they are no object. */
function valuesOf(json: string, properties: ObjectSchema['properties']): Record<string, string> | undefined {
  if (whyNoObject(json) !== '') return undefined
  const given = JSON.parse(json) as Record<string, unknown>
  return startOf(
    properties.flatMap(([key, property]) =>
      Object.hasOwn(given, key) ? [[key, { ...property, default: given[key] }] as const] : [],
    ),
  )
}
