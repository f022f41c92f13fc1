import { useState } from 'preact/hooks'
import { Boundary } from './boundary.js'
import { CompletedField } from './completed-field.js'
import { Listed } from './listed.js'
import { listOf } from './peer.js'
import { Pick, usePick } from './pick.js'
import { RunBox, useRun } from './run.js'
import { listIn, objectIn, textIn } from './values.js'

/** As a server lists it. */
interface Prompt {
  readonly name?: unknown
  readonly description?: unknown
  readonly arguments?: unknown
}

export function PromptsTab() {
  const pick = usePick(async () => {
    const prompts = await listOf<Prompt>('prompts/list', 'prompts')
    return prompts.map((prompt) => ({
      key: textIn(prompt.name),
      name: textIn(prompt.name),
      about: textIn(prompt.description),
      prompt,
    }))
  })
  return (
    <>
      <Pick label="Prompt" none="The server has no prompts." noun="prompt" pick={pick} />
      {pick.chosen && (
        <Boundary key={pick.chosen.key}>
          <PromptForm prompt={pick.chosen.prompt} />
        </Boundary>
      )}
    </>
  )
}

function PromptForm({ prompt }: { readonly prompt: Prompt }) {
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const run = useRun()
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
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
            values={values}
            change={setValues}
          />
        )}
      />
      <RunBox run={run} verb="Get the prompt" />
    </form>
  )
}
