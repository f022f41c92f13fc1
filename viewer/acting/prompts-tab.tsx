import { signal } from '@preact/signals'
import { DescribedTab } from './described-tab.js'
import { CompletedField } from './completed-field.js'
import { kept } from './kept.js'
import { Listed } from './listed.js'
import { useWanted } from './pick.js'
import { createRun, RunBox } from './run.js'
import { listIn, objectIn, textIn } from './values.js'
import { textsIn } from './wanted.js'

/** As a server lists it. */
interface Prompt {
  readonly name?: unknown
  readonly description?: unknown
  readonly arguments?: unknown
}

export function PromptsTab() {
  return (
    <DescribedTab
      id="prompts"
      label="Prompt"
      noun="prompt"
      form={(prompt: Prompt) => <PromptForm prompt={prompt} />}
    />
  )
}

function PromptForm({ prompt }: { readonly prompt: Prompt }) {
  const { values, run } = kept(`prompt ${textIn(prompt.name)}`, () => ({
    values: signal<Readonly<Record<string, string>>>({}),
    run: createRun(),
  }))
  useWanted('prompts', textIn(prompt.name), (request) => (values.value = textsIn(request)))
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        const given = Object.fromEntries(Object.entries(values.value).filter(([, value]) => value !== ''))
        void run.start('prompts/get', JSON.stringify({ name: prompt.name, arguments: given }))
      }}
    >
      <Listed
        all={listIn(prompt.arguments).map(objectIn)}
        atOnce={100}
        noun="argument"
        draw={({ name, description, required }) => (
          <CompletedField
            key={textIn(name)}
            name={textIn(name)}
            required={required === true}
            about={textIn(description)}
            reference={{ type: 'ref/prompt', name: prompt.name }}
            values={values.value}
            change={(next) => (values.value = next)}
          />
        )}
      />
      <RunBox run={run} verb="Get the prompt" />
    </form>
  )
}
