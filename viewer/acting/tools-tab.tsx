import { signal } from '@preact/signals'
import { DescribedTab } from './described-tab.js'
import { createForm } from './form.js'
import { kept } from './kept.js'
import { useWanted } from './pick.js'
import { createRun, RunBox } from './run.js'
import { ForceButton, JsonSwitch, SchemaForm } from './schema-form.js'
import { objectIn, textIn } from './values.js'

/** As a server lists it. */
interface Tool {
  readonly name?: unknown
  readonly description?: unknown
  readonly inputSchema?: unknown
  readonly execution?: unknown
}

/** A form for each tool's arguments, built from its inputSchema. */
export function ToolsTab() {
  return <DescribedTab id="tools" label="Tool" noun="tool" form={(tool: Tool) => <ToolForm tool={tool} />} />
}

function ToolForm({ tool }: { readonly tool: Tool }) {
  const { form, run, asTask } = kept(`tool ${JSON.stringify([tool.name, tool.inputSchema])}`, () => ({
    form: createForm(tool.inputSchema),
    run: createRun(),
    asTask: signal(false),
  }))
  useWanted('tools', textIn(tool.name), ({ given }) => form.fill(given))
  const { taskSupport } = objectIn(tool.execution)
  const call = (isForced = false): void => {
    const text = form.read(isForced)
    if (text === undefined || run.key !== undefined) return
    const params = `{"name":${JSON.stringify(tool.name)},"arguments":${text}}`
    const isTask = taskSupport === 'required' || (taskSupport === 'optional' && asTask.value)
    void run.start('tools/call', params, isTask)
  }
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        call()
      }}
    >
      <SchemaForm
        form={form}
        label="Arguments as JSON"
        none="This tool takes no arguments."
        submit={() => call()}
      />
      {taskSupport === 'optional' && (
        <label class="act-check">
          <input
            type="checkbox"
            checked={asTask.value}
            onChange={({ currentTarget }) => (asTask.value = currentTarget.checked)}
          />{' '}
          Run as a task
        </label>
      )}
      {taskSupport === 'required' && <p class="quiet">This tool runs as a task.</p>}
      <RunBox run={run} verb="Call">
        <ForceButton form={form} verb="Call" send={() => call(true)} />
        <JsonSwitch form={form} />
      </RunBox>
    </form>
  )
}
